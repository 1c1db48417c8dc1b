"""Looks through the whole autograd graph of a few backward calls of a run, before they take it apart, for
what `autograd` can read from it. A node tells neither its module nor its line: modules are known by the
numbers that the nodes made inside of them have.
"""

import dis

from ..autograd import attention_reach
from ..autograd.chains import linear_pair, repeated_activation, unscaled_attention
from ..autograd.input_gradients import norm_over_batch
from ..autograd.learned_weights import unlimited_weight
from ..autograd.log_variance import variance_as_deviation
from ..autograd.masks import weight_behind_mask
from ..autograd.norm_inputs import bias_before_norm
from ..autograd.padded_states import padding_read
from ..autograd.policy_ratios import apart_from_one, are_one, clamped_ratios
from ..autograd.policy_terms import GRADED, weight_of_action
from ..autograd.rearranged import misdirected_softmax, softmax_over_rows, swapped_sizes
from ..autograd.zero_units import saturated_units, zero_units
from ..record.sites import OURS, OWN, kind_of
from ..state.tokens import shift_of
from ..torch_api import private, tensors
from ..torch_api.attributes import attribute
from .forward import PRODUCTS
from .modules import codes_of

MOST_NODES, MOST_SCANS = 20_000, 8
STEPS = 3  # of a model whose graphs are looked at: from one step to the next, batches may differ in size
MOST_MODELS = 8
LATEST_UNITS = 1 << 16  # the last step in which units of zero are looked for; each is twice the one before
MOST_BACKWARDS = 4  # of such a step
RESHAPES, NORMALIZERS = ("view", "reshape", "view_as", "reshape_as"), ("softmax", "Softmax")
OVER_ROWS = (*NORMALIZERS, "log_softmax", "LogSoftmax")
ATTENTIONS = (*NORMALIZERS, "scaled_dot_product_attention")
MASKINGS = ("masked_fill", "masked_fill_", "where")
ACTIVATIONS = ("relu", "sigmoid", "tanh", "softmax")
LOGARITHM = "LogSoftmaxBackward0"  # of probabilities: attention, which may run over time first, takes none
LEAST_APART = 0.1  # share of the ratios of a policy to itself
LEAST_WEIGHT = 1e-6  # of a masked position that is worth a word
IDLE = (
    ("zero_units", {"ReluBackward0": "relu"}, zero_units),
    ("saturated_units", {"TanhBackward0": "tanh", "SigmoidBackward0": "sigmoid"}, saturated_units),
)


class GraphScan:
    def __init__(self, guard, recorder, sites, last_batch):
        self.recorder, self.sites, self.last_batch = recorder, sites, last_batch
        self.scan = guard.isolated("graph")(self.scan)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.spans = []  # first and next number of the nodes made inside of a module, its class; inner ones first
        self.scans, self.until, self.models, self.told = 0, STEPS, 0, {}
        self.ratios = {}  # by step: how many ratios were all 1
        self.compared = 0  # rows of the outputs that the latest loss was given
        self.next_tokens = None  # (batch, positions): where the latest loss has the next token for its target

    def subscribe(self, moments):
        moments.sampled_stepped.append(self.end_step)
        moments.loss_examined.append(self.loss_examined)

    def loss_examined(self, call):
        self.compared = call.output.shape[0] if 0 < call.output.dim() < 3 else 0
        if self.wanted():
            self.next_tokens = self.next_tokens_of(call)

    def next_tokens_of(self, call):
        target, ignored = call.host_target, call.options.get("ignore_index", -100)
        if call.function not in ("cross_entropy", "nll_loss") or not tensors.is_readable(target) or not target.is_cpu:
            return None
        for tokens in self.last_batch.tokens():
            if tokens.is_cpu and shift_of(tokens, target, ignored) == 1:
                return target.reshape(tokens.shape[0], -1) != ignored
        return None

    def end_step(self):
        """A graph may reach back into an earlier step, so spans stay as long as any graph is looked at."""
        self.compared, self.next_tokens = 0, None
        if self.spans and not self.wanted():
            self.spans = []

    def wanted(self):
        return self.recorder.step < self.until and self.scans < MOST_SCANS and private.has_sequence_numbers

    def meets_model(self):
        """A model is called in training for the first time."""
        self.models += 1
        if self.models <= MOST_MODELS and self.recorder.step > 0:
            self.scans, self.until = 0, self.recorder.step + STEPS

    def begin(self):
        """Before a module is called: the number that the next node has, None where nobody will ask."""
        return private.next_sequence_number() if self.wanted() else None

    def module_ended(self, module, first):
        """`first` is what `begin` gave."""
        self.spans.append((first, private.next_sequence_number(), type(module)))

    def scan(self, loss):
        """Before a backward from `loss`, in a sampled step."""
        nodes, users = [], {}
        if self.wanted() and self.spans:  # none where modules are compiled: whose code made a node is not known
            self.scans += 1
            nodes, users = walked(loss)
            for node in nodes:
                self.look(node, users)
            with tensors.unrecorded():
                self.look_at_attention(nodes)
        step = self.recorder.step
        if step < LATEST_UNITS and step & (step - 1) == 0 and self.recorder.micro_step < MOST_BACKWARDS:
            self.look_for_zeros(nodes or walked(loss)[0])

    def look(self, node, users):
        sizes = swapped_sizes(node, users.get(node, (None,))[0])
        if sizes is not None:
            self.tell("swapped_sizes", node, sizes, 1.0, words=RESHAPES)
        axis = misdirected_softmax(node)
        if axis is not None:
            self.tell("misdirected_softmax", node, "attention", float(axis), words=NORMALIZERS)
        rows = softmax_over_rows(node)
        if rows is not None and (rows == self.compared or rows == self.last_batch.table_rows or
                                 node.name() == LOGARITHM and self.last_batch.has_samples(rows)):  # fmt: skip
            self.tell("softmax_over_samples", node, "softmax", float(rows), float(rows == self.compared),
                      words=OVER_ROWS, layer=True)  # fmt: skip
        pair = linear_pair(node, users)
        if pair is not None and self.is_own_layer(pair[3]) and not self.parts(pair[3], node):
            self.tell("linear_pair", node, pair[0], float(pair[1]), float(pair[2]), layer=True)
        activation = repeated_activation(node)
        if activation is not None:
            self.tell("repeated_activation", node, activation, 1.0, words=ACTIVATIONS, layer=True)
        weight = weight_of_action(node)
        if weight is not None:
            self.recorder.moments.probability_asked()
        if weight == GRADED:
            self.tell("weighted_log_probability", node, "log_prob", 1.0)
        features = unscaled_attention(node)
        if features is not None:
            self.tell("unscaled_attention", node, "scores", float(features), words=NORMALIZERS)
        hidden = weight_behind_mask(node)
        if hidden is not None and hidden[0] > LEAST_WEIGHT:
            self.tell("weight_behind_mask", node, "masked_fill", hidden[0], float(hidden[1]), words=MASKINGS)
        if bias_before_norm(node):
            self.tell("bias_before_norm", node, "bias", 1.0, layer=True)
        if variance_as_deviation(node, users):
            self.tell("variance_as_deviation", node, "exp", 1.0, words=("exp",))
        ratios = clamped_ratios(node, users)
        if ratios is not None:
            self.look_at_ratios(node, users, ratios)
        for quantity, found in (("unlimited_weight", unlimited_weight(node, users)), ("norm_over_batch", norm_over_batch(node))):
            if found is not None:
                self.tell(quantity, node, "loss", float(found))
        read = padding_read(node)
        if read is not None and ("padding_read", read[0]) not in self.told:
            self.told["padding_read", read[0]] = True
            self.recorder.quantity("padding_read", read[0], float(read[1]), float(read[2]), read[3])

    def look_at_ratios(self, node, users, ratios):
        if are_one(ratios):
            self.ratios[self.recorder.step] = ratios.numel()
            if len(self.ratios) == STEPS:
                self.tell("constant_ratio", node, "exp", float(sum(self.ratios.values())), words=("exp",))
        elif self.recorder.step == 0:
            apart = apart_from_one(node, users, ratios)
            if apart > LEAST_APART * ratios.numel():
                self.tell("first_ratio", node, "exp", float(apart), float(ratios.numel()), words=("exp",))

    def look_at_attention(self, nodes):
        """Weight that goes to padding, and to the token that is to be predicted. Where several layers have the right
        shape for that token, all of them must show it: one may look at a source, which is as long by chance."""
        words = [tokens for tokens in self.last_batch.words() if tokens.is_cpu]
        padded = [(tokens, p) for tokens, p in zip(words, map(attention_reach.padding_of, words)) if p is not None]
        paddings = [padding for _, padding in padded]
        if not paddings and self.next_tokens is None:
            return
        shown = []
        for node in nodes:
            weights = attention_reach.weights_of(node)
            if weights is None:
                continue
            given = [attention_reach.weight_of_padding(weights, padding) for padding in paddings]
            given = [weight for weight in given if weight is not None]
            if given and min(given) > LEAST_WEIGHT:
                self.tell_of_padding(node, weights, padded, min(given))
            if self.next_tokens is not None:
                shown.append((attention_reach.weight_of_next(weights, self.next_tokens), node))
        shown = [(weight, node) for weight, node in shown if weight is not None]
        if shown and min(weight for weight, _ in shown) > LEAST_WEIGHT:
            weight, node = shown[0]
            self.tell("weight_of_next_token", node, "attention", weight, float(self.next_tokens.sum()),
                      words=ATTENTIONS, layer=True)  # fmt: skip

    def tell_of_padding(self, node, weights, padded, most):
        """Where only padding gets weight, the mask has the wrong sense."""
        (tokens, padding), places = padded[0], {"words": ATTENTIONS, "layer": True}
        if all(attention_reach.hides_tokens(weights, other) for _, other in padded):
            hidden = tokens[~padding]
            self.tell("inverted_mask", node, "attention", float(hidden.unique().numel()), float(hidden.numel()), **places)
        else:
            self.tell("weight_of_padding", node, "attention", most, float(padding.sum()), **places)

    def look_for_zeros(self, nodes):
        """Units that let no gradient through at the start may wake up, and others die later."""
        for quantity, names, look in IDLE:
            for number, node in enumerate(node for node in nodes if node.name() in names):
                found = look(node)
                if found is not None:
                    name, place = names[node.name()], self.recorder.micro_step * MOST_NODES + number
                    thing = self.recorder.thing("operation", place, name)
                    self.recorder.quantity(quantity, thing, found[0], float(found[1]), self.sites.current())

    def tell(self, quantity, node, name, value, aux=0.0, words=(), layer=False):
        """`layer`: the node may be one of a layer of torch, which the module around it has put there."""
        kind, whose = self.owner_of(node, layer)
        key = (quantity, name, kind)
        if whose != OWN or key in self.told:
            return
        self.told[key] = True
        site = self.sites.current() if kind is None else self.site_in(kind, words)
        thing = self.recorder.thing("operation", len(self.told), name)
        self.recorder.quantity(quantity, thing, value, aux, site)

    def is_own_layer(self, node):
        """Whether a layer is one by itself: the last one of torch's attention belongs to that."""
        number = private.sequence_number_of(node)
        kind = next((kind for first, end, kind in self.spans if first <= number < end), None)
        code = None if kind is None else code_of(kind)
        return kind is None or issubclass(kind, PRODUCTS) or code is not None and kind_of(code.co_filename) != OURS

    def parts(self, one, other):
        """Whether two layers belong to two modules of several layers each, such as an encoder and its decoder: what
        goes between these may be meant to be linear."""
        first, second = (private.sequence_number_of(node) for node in (one, other))
        return self.has_layers(first, second) and self.has_layers(second, first)

    def has_layers(self, number, apart):
        """Whether a module around one node, and not around another, has several layers."""
        around = [(first, end) for first, end, kind in self.spans
                  if first <= number < end and not first <= apart < end and not issubclass(kind, PRODUCTS)]  # fmt: skip
        layers = [first for first, _, kind in self.spans if issubclass(kind, PRODUCTS)]
        return any(sum(first <= layer < end for layer in layers) > 1 for first, end in around)

    def owner_of(self, node, layer):
        """The class of the innermost module in which a node was made, and whose that is; None and the program's
        own if it was in none."""
        number = private.sequence_number_of(node)
        for first, end, kind in self.spans:
            if first <= number < end:
                code = code_of(kind)
                whose = kind_of(code.co_filename) if code else OURS  # a traced or compiled module has none
                if not (layer and whose == OURS):
                    return kind, whose
        return None, OWN

    def site_in(self, kind, words):
        """The one line of a class that names one of `words`; where there are several, its forward()."""
        codes = [code for function in vars(kind).values() for code in codes_of(attribute(function, "__code__"))]
        found = {(code, line) for code in codes for line in lines_with(code, words)}
        code, line = found.pop() if len(found) == 1 else (code_of(kind), code_of(kind).co_firstlineno)
        return self.sites.site(code, line)


def walked(loss):
    """The nodes of the graph of a loss, at most MOST_NODES, and by node those that take its result."""
    waiting, met, users = [loss.grad_fn], {}, {}
    while waiting and len(met) < MOST_NODES:
        node = waiting.pop()
        if node is None or node in met:
            continue
        met[node] = True
        for before, _ in node.next_functions:
            if before is not None:
                users.setdefault(before, []).append(node)
                waiting.append(before)
    return list(met), users


def code_of(kind):
    return attribute(getattr(kind, "forward", None), "__code__")


def lines_with(code, words):
    """Lines of a function that take one of these names from something."""
    line, found = code.co_firstlineno, set()
    starts = {offset: start for offset, start in dis.findlinestarts(code) if start is not None}
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        if instruction.opname in ("LOAD_METHOD", "LOAD_ATTR") and instruction.argval in words:
            found.add(line)
    return found

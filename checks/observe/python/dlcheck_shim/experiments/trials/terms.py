"""TERMS: each term of a loss has a share in the gradient.

Before a backward its graph is walked down from the loss through sums and constant factors to the terms,
and one gradient is worked out for each of them. That must be repeatable and leave no trace: where it runs
code of the program, nothing is tried.
"""

import math

import torch

from ...autograd.loss_graph import SavedTensors
from ...hooks.backward import is_number
from ...torch_api import private, tensors
from ...torch_api.capabilities import is_compiling, version
from ...torch_api.wrapping import replace
from ..fixed_batch.cuts import MOST_NODES
from ..fixed_batch.unjudged import Unjudged
from .bench import Randomness
from .capture import FIRST_STEP, LAST_STEP
from .numbers import Numbers
from .sums import Sum

FEWEST, MOST = 2, 12  # terms of a loss
BETWEEN = 2  # steps from one look at a loss to the next
STARTS_INSIDE = (2, 6)  # the first version that starts a backward from a node


class Terms:
    def __init__(self, watch, apart):
        """`apart` tells whether others train with this process."""
        self.watch, self.apart, self.numbers = watch, apart, Numbers(watch)
        self.looked = {}  # step of the last look, by what a loss looks like
        self.ordinals = {}
        self.before = watch.guard.isolated("terms", runs_program=True)(self.before)

    def begin(self):
        if version() < STARTS_INSIDE:
            self.give_up("this version of torch cannot start a backward inside a graph")
            return
        self.numbers.begin()
        replace([torch.autograd], "backward", self.watched)

    def rest(self, _):
        """As a step ends: the trials see the models as the program runs them."""
        self.numbers.stop()

    def go_on(self, _):
        if not self.apart():
            self.numbers.start()

    def watched(self, original):
        def backward(roots, *args, **kwargs):
            if not is_compiling() and private.current_graph_task_id() == -1:
                self.before(roots, args, kwargs)
            return original(roots, *args, **kwargs)

        return backward

    def give_up(self, reason):
        """The last reason is the one that is told."""
        self.watch.recorder.attribute(0, "untried/terms", reason)

    def before(self, roots, args, kwargs):
        if not FIRST_STEP <= self.watch.recorder.step <= LAST_STEP or not tensors.may_compute():
            return
        if isinstance(roots, (list, tuple)) and len(roots) == 1:
            (roots,) = roots
        site = self.watch.steps.sites.current(always=True)
        randomness = Randomness()
        try:
            with self.watch.guard.resting():
                self.look(roots, args, kwargs, site)
        except Unjudged as reason:
            self.give_up(str(reason))
        except (RuntimeError, TypeError, AttributeError) as error:  # of a node of another kind
            self.give_up(f"{type(error).__name__}: {error}")
        finally:
            randomness.restore()

    def look(self, loss, args, kwargs, site):
        if self.apart():
            raise Unjudged("the program trains in several processes")
        if args and args[0] is not None or kwargs.get("grad_tensors", kwargs.get("gradient")) is not None:
            raise Unjudged("backward() is called with a gradient argument")
        if kwargs.get("inputs") is not None:
            raise Unjudged("backward() is called with inputs=")
        if not isinstance(loss, torch.Tensor) or not is_number(loss) or loss.grad_fn is None:
            raise Unjudged("backward() does not start from a scalar")
        if self.numbers.reason is not None:
            raise Unjudged(self.numbers.reason)
        terms = Sum(loss.grad_fn).terms()
        if not FEWEST <= len(terms) <= MOST:
            raise Unjudged(f"the loss is not a sum of {FEWEST} to {MOST} terms")
        key = (site, tuple(term.operation for term in terms))
        step = self.watch.recorder.step
        if step - self.looked.get(key, -BETWEEN) >= BETWEEN:
            self.looked[key] = step
            self.measure(loss, terms, key)

    def measure(self, loss, terms, key):
        if self.numbers.hooked or SavedTensors.packed:
            raise Unjudged("code of the program runs during backward")
        leaves = leaves_of(loss.grad_fn)
        norms = [norms_of(term, leaves) for term in terms]
        values = [abs(float(term.value) * term.factor) for term in terms]
        size = sum(value for value, norm in zip(values, norms) if any(norm))
        steepest = max(abs(term.factor) for term in terms)
        if not (0 < size < math.inf and 0 < sum(sum(found) for found in norms) < math.inf):
            raise Unjudged("the loss or the gradient is zero or not finite")
        ordinal = self.ordinals.setdefault(key, len(self.ordinals))
        which = f" of loss {ordinal + 1}" if ordinal else ""
        for place, (term, value) in enumerate(zip(terms, values), 1):
            name = f"term {place} of {len(terms)}{which}, {term.operation}"
            thing = self.watch.recorder.thing("term", 0, name)
            site, share = term.site or key[0], share_of(norms[place - 1], norms)
            self.watch.recorder.quantity("term_share", thing, share, value / size, site)
            self.watch.recorder.quantity("term_value", thing, float(term.value),
                                         term.factor / steepest, site)  # fmt: skip


def share_of(own, norms):
    """Over the leaves that a term has a gradient for: one that is alone there is not small."""
    def size(of_term):
        return math.hypot(*(norm for norm, there in zip(of_term, own) if there))

    whole = sum(map(size, norms))
    return size(own) / whole if whole else 0.0


def leaves_of(node):
    """The tensors that a backward would give gradients; raises where it runs code of the program."""
    nodes, seen, leaves = [node], set(), {}
    while nodes:
        node = nodes.pop()
        if node in seen:
            continue
        if len(seen) == MOST_NODES:
            raise Unjudged("the autograd graph is too large")
        seen.add(node)
        nodes += [before for before, _ in node.next_functions if before is not None]
        leaf = getattr(node, "variable", None) if node.name().endswith("AccumulateGrad") else None
        if leaf is not None:
            leaves[id(leaf)] = leaf
            if not tensors.is_plain(leaf) or private.hooks_of(leaf):
                raise Unjudged("gradients are changed by hooks, or are on several devices")
        elif is_custom(node):
            raise Unjudged("backward runs custom autograd functions")
    return list(leaves.values())


def is_custom(node):
    name = type(node).__name__
    return isinstance(node, torch.autograd.function.BackwardCFunction) or "::" in name or "Cpp" in name


def norms_of(term, leaves):
    """The norm of the term's gradient for each leaf."""
    if term.node is None:
        return [0.0] * len(leaves)
    if term.node.name().endswith("AccumulateGrad"):
        return [abs(term.factor) * (leaf is term.node.variable) for leaf in leaves]
    edge = torch.autograd.graph.GradientEdge(term.node, term.place)
    begin = torch.full_like(term.value, term.factor)
    gradients = torch.autograd.grad([edge], leaves, [begin], retain_graph=True, allow_unused=True)
    with tensors.unrecorded():
        given = [torch.zeros(1, device=leaf.device) if gradient is None else gradient
                 for leaf, gradient in zip(leaves, gradients)]  # fmt: skip
        return [float(torch.linalg.vector_norm(tensors.dense(gradient))) for gradient in given]

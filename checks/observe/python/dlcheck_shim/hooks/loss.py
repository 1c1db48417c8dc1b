"""Watches the loss functions of torch.nn.functional: what training and evaluation make of outputs.

Only these can be judged against an independent or a constant answer; another loss is still recorded
as the number a backward starts from.
"""

import inspect
import weakref

import torch

from ..autograd.loss_graph import made_twice, maker_of, mark_loss, normalizer_of
from ..autograd.spread_comparison import spread_comparison
from ..state.initial_loss import JUDGED_AT_START, InitialLoss
from ..state.last_batch import LastBatch
from ..state.loss_calls import KINDS, LossCall, count_samples, is_of_distributions, reduction_of, rows_of
from ..state.reachable import range_of, write_unreachable
from ..state.tokens import shift_of
from ..torch_api import tensors
from ..torch_api.capabilities import tracing_state
from ..torch_api.on_host import on_host
from ..torch_api.wrapping import outermost, replace

NEAR_ZERO = 0.1  # the logarithm of a sum of probabilities, in half precision too
TAKE_LOGARITHMS = ("nll_loss", "kl_div")
# Functions whose outputs and targets are compared number by number.
SAME_SHAPES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")

# Names of the parameters in the order in which they may be given without a name.
ORDER = {
    function: tuple(inspect.signature(getattr(torch.nn.functional, function)).parameters)
    for function in KINDS
}


class LossHooks:
    def __init__(self, guard, recorder, sites, raised):
        self.guard, self.recorder, self.sites, self.raised = guard, recorder, sites, raised
        self.seen = guard.isolated("loss")(self.seen)
        self.seen_unsampled = guard.isolated("loss")(self.seen_unsampled)
        self.last_batch = LastBatch()
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.initial = {}  # by function name, until the first step ends
        self.growing = {}  # the same, while the targets of the first steps are too few
        self.untrained = True
        self.last = None  # weak reference to the last training loss, its thing and its samples
        self.evaluation = None  # sum of losses and samples since evaluation began
        self.things = {}  # by function name
        self.told = set()  # attributes

    def subscribe(self, moments):
        moments.first_step_ends.append(self.write_initial)

    def watch_all(self):
        for function in KINDS:
            replace([torch.nn.functional], function, self.around(function))

    def around(self, function):
        def before(args, kwargs):
            if is_of_distributions():
                return None
            self.raised.begins("loss", loss_functions)
            return args, kwargs

        def after(token, result):
            self.raised.returns("loss")
            if type(result) is not torch.Tensor or tracing_state():
                return
            args, kwargs = token
            known = function in self.things and len(args) > 1
            if self.recorder.sampled or not known:
                self.seen(function, result, args, kwargs)
            else:
                self.seen_unsampled(function, result, args, kwargs)

        return outermost(before, after)

    def seen_unsampled(self, function, result, args, kwargs):
        """The same for training in a step of which only the loss itself is recorded."""
        if not result.requires_grad:
            self.seen(function, result, args, kwargs)
        elif tensors.is_plain(args[0]) and tensors.is_plain(args[1]):
            samples = count_samples(function, args[0], args[1])
            self.last = (weakref.ref(result), self.things[function], samples)

    def seen(self, function, result, args, kwargs):
        """After a call of a loss function; `args` and `kwargs` are the caller's."""
        thing = self.things.get(function)
        options = dict(zip(ORDER[function], args)) | kwargs
        output, target = options.get("input"), options.get("target")
        if not (tensors.is_plain(output) and tensors.is_plain(target)):
            return
        if function in SAME_SHAPES and target.requires_grad and not output.requires_grad:
            output, target = target, output  # a distance, given the other way round
        samples = count_samples(function, output, target)
        thing = thing or self.describe(function, output, options)
        if result.requires_grad and torch.is_grad_enabled():
            self.last = (weakref.ref(result), thing, samples)
            if self.recorder.sampled:
                self.recorder.moments.loss_computed(result)
            if self.recorder.sampled and tensors.may_compute():
                with tensors.unrecorded():
                    self.mark_result(function, thing, result, output, target, options)
                    self.recorder.loss_examined(LossCall(function, thing, result, output, target, options))
                    if function in self.growing:
                        self.grow(function, thing, output.detach(), target.detach(), options)
                    if self.recorder.detailed:
                        self.look(function, thing, output, target, options)
        elif tensors.is_plain(output) and tensors.may_compute():
            with tensors.unrecorded():
                self.recorder.moments.evaluation_loss(LossCall(function, thing, result, output, target, options))
            self.add_to_evaluation(result, thing, samples, reduction_of(options))
        if self.untrained and function in JUDGED_AT_START and tensors.is_plain(output) and tensors.may_compute():
            with tensors.unrecorded():
                self.initial_of(function).add(output.detach(), target.detach(), options)

    def describe(self, function, output, options):
        thing = self.things[function] = self.recorder.thing("loss", 0, function)
        self.recorder.attribute(thing, "kind", KINDS[function])
        if function == "cross_entropy":
            self.recorder.attribute(thing, "classes", output.shape[1 if output.dim() > 1 else 0])
        if options.get("label_smoothing"):
            self.recorder.attribute(thing, "label_smoothing", options["label_smoothing"])
        self.recorder.moments.loss_named(function, thing)
        return thing

    def mark_result(self, function, thing, result, output, target, options):
        """Marks the graph of a loss with what it takes to make a mean of it."""
        reduction, counted = reduction_of(options), None
        if function == "kl_div":  # a mean over what is left to its caller
            return
        if function in ("cross_entropy", "nll_loss") and not target.is_floating_point():
            counted = self.count_targets(thing, target, options.get("ignore_index", -100))
        elif reduction == "mean" or target.shape == output.shape:
            counted = target.numel() or None
        if counted is not None and reduction != "none" and options.get("weight") is None:
            share = 1.0 if reduction == "mean" else counted
            mark_loss(result.grad_fn, (thing, share, counted))

    def look(self, function, thing, output, target, options):
        """Where the outputs of a training loss come from."""
        reduction = reduction_of(options)
        if function != "kl_div":
            self.tell(thing, "reduction", reduction)
        maker = maker_of(output)
        self.tell(thing, "input_from", maker)
        self.tell(thing, "logarithm_of", made_twice(output, "log_softmax"))
        self.tell(thing, "sigmoid_of", made_twice(output, "sigmoid"))
        between = range_of(function, maker, function in SAME_SHAPES)
        if between is not None and target.numel() > 0:
            write_unreachable(self.recorder, self.sites, self.tell, thing, between, target.detach())
        if output.shape != target.shape and function in SAME_SHAPES:
            if output.numel() == target.numel() > 1:
                shapes = ["x".join(map(str, t.shape)) for t in (output, target)]
                self.tell(thing, "broadcast", " and ".join(shapes))
        if function == "cross_entropy":
            self.look_for_probabilities(thing, output)
        if function in TAKE_LOGARITHMS and reduction != "none":
            self.tell(thing, "normalized_by", normalizer_of(output))
            self.look_for_log_probabilities(thing, output)
        if function in ("cross_entropy", "nll_loss"):
            self.look_for_shift(thing, target, options.get("ignore_index", -100))

    def look_for_shift(self, thing, target, ignored):
        """By how many positions targets run ahead of the model's own input, where they are its tokens."""
        if not tensors.is_readable(target := on_host(target)) or not target.is_cpu:
            return
        inputs = [tokens for tokens in self.last_batch.tokens() if tokens.is_cpu]
        shifts = {shift_of(tokens, target, ignored) for tokens in inputs} - {None}
        if len(shifts) == 1:
            shift = shifts.pop()
            self.recorder.quantity("target_shift", thing, float(shift), float(target.numel()))

    def tell(self, thing, key, value):
        """Writes an attribute of a loss once; one that says nothing replaces none that does."""
        if value and (thing, key, value) not in self.told:
            self.told.add((thing, key, value))
            self.recorder.attribute(thing, key, value)

    def count_targets(self, thing, target, ignored):
        """Known at once only on the CPU; elsewhere it is written when it arrives, and the count is a tensor."""
        recorder, at = self.recorder, (self.recorder.step, self.recorder.micro_step)
        total, site = target.numel(), self.sites.current()
        counted = (target != ignored).sum()
        if counted.is_cpu:
            count = counted.item()
            recorder.quantity("counted_targets", thing, float(count), float(total), site)
            return count or None
        recorder.transfer.add(
            counted.reshape(1),
            lambda v: recorder.quantity("counted_targets", thing, v[0], float(total), site, at=at),
        )
        return counted

    def look_for_log_probabilities(self, thing, output):
        rows = rows_of(output)
        if rows is None:
            return
        recorder, at, count = self.recorder, (self.recorder.step, self.recorder.micro_step), rows.shape[0]
        are = rows.double().logsumexp(1).abs().lt(NEAR_ZERO)
        if output.dim() == 2 and output.shape[0] == output.shape[1]:  # pairs may be normalized along either side
            are = are | output.detach().double().logsumexp(0).abs().lt(NEAR_ZERO)[:count]
        recorder.transfer.add(
            are.double().mean().reshape(1),
            lambda v: recorder.quantity("log_probability_rows", thing, v[0], float(count), at=at),
        )

    def look_for_probabilities(self, thing, output):
        rows = rows_of(output)
        if rows is None:
            return
        recorder, at = self.recorder, (self.recorder.step, self.recorder.micro_step)
        count = float(rows.shape[0])
        if rows.is_cpu and min(rows[0].tolist()) < 0:  # one is enough
            recorder.quantity("probability_rows", thing, 0.0, count)
            return
        are = (rows.sum(1) - 1).abs().lt(1e-4) & rows.ge(0).all(1)
        recorder.transfer.add(
            are.double().mean().reshape(1),
            lambda v: recorder.quantity("probability_rows", thing, v[0], count, at=at),
        )

    def tell_spread(self, loss):
        """A loss worked out by hand that compares every output with every target."""
        spread = spread_comparison(loss)
        if spread:
            self.tell(self.unnamed(), "broadcast", spread)

    def unnamed(self):
        """The thing of a loss that came from none of the functions, or was changed on its way."""
        if "loss" not in self.things:
            self.things["loss"] = self.recorder.thing("loss", 0, "loss")
        return self.things["loss"]

    def initial_of(self, function):
        if function not in self.initial:
            self.initial[function] = InitialLoss(KINDS[function], function == "binary_cross_entropy")
        return self.initial[function]

    def write_initial(self):
        """As the first step ends: what the untrained model made of its targets."""
        self.untrained = False
        for function, initial in self.initial.items():
            found = initial.result()
            if found is None:
                continue
            thing = self.recorder.thing("loss", 0, function)
            for name, value, aux in found:
                self.recorder.quantity(name, thing, value, aux)
            if not initial.is_whole:
                self.growing[function] = initial
        self.initial = {}

    def grow(self, function, thing, output, target, options):
        told = self.growing[function].grow(output, target, options)
        if told is not None:
            name, value, aux = told
            self.recorder.quantity(name, thing, value, aux)
        if self.growing[function].is_whole:
            del self.growing[function]

    def of_backward(self, loss):
        """Thing and number of samples of the tensor that a backward starts from."""
        last, self.last = self.last, None
        if last is None:
            return self.unnamed(), 0
        reference, thing, samples = last
        return (thing if reference() is loss else self.unnamed()), samples

    def add_to_evaluation(self, result, thing, samples, reduction):
        total = result.detach().sum() * (samples if reduction == "mean" else 1)
        if self.evaluation is not None and self.evaluation[2] == thing:
            total, samples = total + self.evaluation[0], samples + self.evaluation[1]
        self.evaluation = (total, samples, thing)

    def end_evaluation(self, recorded=False):
        """Training goes on: writes what the evaluation before came to. Gives its mean loss and its
        number of samples if it is to be `recorded`, or None."""
        if self.evaluation is None:
            return None
        (total, samples, thing), self.evaluation = self.evaluation, None
        if samples == 0:
            return None
        wanted = recorded or self.recorder.sampled
        value = float(total) / samples if wanted else 0.0
        self.recorder.event("evaluated", thing, value, float(samples), always=recorded)
        return (value, float(samples)) if wanted else None


def loss_functions():
    return [getattr(torch.nn.functional, name) for name in KINDS]

"""Watches the loss functions of torch.nn.functional: what training and evaluation make of outputs.

Only these can be judged against an independent or a constant answer; another loss is still recorded
as the number a backward starts from.
"""

import inspect
import weakref

import torch

from . import tensors
from .initial_loss import InitialLoss

KINDS = {
    "cross_entropy": "cross_entropy",
    "nll_loss": "nll",
    "mse_loss": "mse",
    "binary_cross_entropy_with_logits": "bce",
}

# Names of the parameters in the order in which they may be given without a name.
ORDER = {
    function: tuple(inspect.signature(getattr(torch.nn.functional, function)).parameters)
    for function in KINDS
}


class LossHooks:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reset()
        recorder.on_fork.append(self.reset)

    def reset(self):
        self.initial = {}  # by function name, until the first step ends
        self.untrained = True
        self.last = None  # weak reference to the last training loss, its thing and its samples
        self.evaluation = None  # sum of losses and samples since evaluation began
        self.things = {}  # by function name

    def seen(self, function, result, args, kwargs):
        """After a call of a loss function; `args` and `kwargs` are the caller's."""
        options = dict(zip(ORDER[function], args)) | kwargs
        output, target = options.get("input"), options.get("target")
        if not (type(output) in tensors.PLAIN and type(target) in tensors.PLAIN):
            return
        samples = count_samples(function, output, target)
        thing = self.things.get(function) or self.describe(function, output, options)
        if result.requires_grad and torch.is_grad_enabled():
            self.last = (weakref.ref(result), thing, samples)
        elif tensors.is_plain(output) and tensors.may_compute():
            self.add_to_evaluation(result, thing, samples, reduction_of(options))
        if self.untrained and tensors.is_plain(output) and tensors.may_compute():
            with torch.no_grad():
                self.initial_of(function).add(output.detach(), target.detach(), options)

    def describe(self, function, output, options):
        thing = self.things[function] = self.recorder.thing("loss", 0, function)
        self.recorder.attribute(thing, "kind", KINDS[function])
        if function == "cross_entropy":
            self.recorder.attribute(thing, "classes", output.shape[1 if output.dim() > 1 else 0])
        if options.get("label_smoothing"):
            self.recorder.attribute(thing, "label_smoothing", options["label_smoothing"])
        return thing

    def unnamed(self):
        """The thing of a loss that came from none of the functions, or was changed on its way."""
        if "loss" not in self.things:
            self.things["loss"] = self.recorder.thing("loss", 0, "loss")
        return self.things["loss"]

    def initial_of(self, function):
        if function not in self.initial:
            self.initial[function] = InitialLoss(KINDS[function])
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
        self.initial = {}

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

    def end_evaluation(self):
        """Training goes on: writes what the evaluation before came to."""
        if self.evaluation is None:
            return
        (total, samples, thing), self.evaluation = self.evaluation, None
        if samples == 0:
            return
        value = float(total) / samples if self.recorder.sampled else 0.0
        self.recorder.event("evaluated", thing, value, float(samples))


def reduction_of(options):
    """The reduction, which older programs spell in two other options."""
    average, reduce = options.get("size_average"), options.get("reduce")
    if average is None and reduce is None:
        return options.get("reduction", "mean")
    if reduce is False:
        return "none"
    return "sum" if average is False else "mean"


def count_samples(function, output, target):
    if function in ("cross_entropy", "nll_loss") and not target.is_floating_point():
        return target.numel()
    return output.shape[0] if output.dim() > 0 else 1

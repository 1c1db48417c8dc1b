"""What the loss functions of a step compare: outputs with targets, position by position.

Of each position one number is kept, whatever the number of classes: outputs that differ there give
another one.
"""

import torch
import torch.nn.functional as F

from ...hooks.loss import KINDS, ORDER
from ...torch_api import tensors
from ...torch_api.capabilities import is_compiling
from ...torch_api.wrapping import replace

CLASSED = ("cross_entropy", "nll_loss")
SURE = 0.1  # of the largest change of a call: what has changed for certain


class Comparison:
    def __init__(self, function, outputs, targets):
        self.function, self.outputs, self.targets = function, outputs, targets

    def is_like(self, other):
        return self.function == other.function and self.outputs.shape == other.outputs.shape


class Comparisons:
    """Of the step under way, in their order."""

    def __init__(self, watch):
        self.watch, self.calls = watch, []

    def begin(self):
        for function in KINDS:
            replace([F], function, lambda original, name=function: self.watched(original, name))

    def watched(self, original, function):
        def loss(*args, **kwargs):
            if not is_compiling() and torch.is_grad_enabled() and not self.watch.guard.elsewhere():
                options = dict(zip(ORDER[function], args)) | kwargs
                self.add(function, options.get("input"), options.get("target"))
            return original(*args, **kwargs)

        return loss

    def add(self, function, output, target):
        if not (tensors.is_plain(output) and tensors.is_plain(target) and output.requires_grad):
            return
        with tensors.unrecorded():
            pair = positions(function, output.detach(), target.detach())
        if pair is not None:
            self.calls.append(Comparison(function, *pair))

    def take(self):
        calls, self.calls = self.calls, []
        return calls


def positions(function, output, target):
    """(numbers of the outputs, of the targets), of one shape; None where that is not known."""
    if function not in CLASSED:
        return (numbers(output), copied(target)) if output.shape == target.shape else None
    classes = 1 if output.dim() > 1 else 0
    of_classes = target.is_floating_point() and target.shape == output.shape
    made = projected(output, classes)
    wanted = projected(target, classes) if of_classes else copied(target)
    return (made, wanted) if made.shape == wanted.shape else None


def numbers(values):
    return torch.nan_to_num(values.float(), 0.0, 0.0, 0.0).clone()


def copied(target):
    return numbers(target) if target.is_floating_point() else target.clone()


def projected(values, dimension):
    source = torch.Generator().manual_seed(values.shape[dimension])
    weights = torch.randn(values.shape[dimension], generator=source).to(values.device)
    return numbers(values).movedim(dimension, -1) @ weights


def change(before, after):
    """How far each position moved."""
    return (after.double() - before.double()).abs()


def changed(before, after):
    """bool: the positions that changed for certain. Whole numbers are what they are."""
    moved = change(before, after)
    return moved > (SURE * moved.max() if before.is_floating_point() else 0)

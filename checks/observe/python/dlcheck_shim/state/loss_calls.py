"""What a call of a loss function was given, and what that says."""

import os
import sys

from ..torch_api import tensors
from ..torch_api.on_host import on_host

# Functions of losses, and how records call them.
KINDS = {
    "cross_entropy": "cross_entropy",
    "nll_loss": "nll",
    "kl_div": "kl",
    "mse_loss": "mse",
    "binary_cross_entropy_with_logits": "bce",
    "binary_cross_entropy": "bce",
    "l1_loss": "l1",
    "smooth_l1_loss": "smooth_l1",
    "huber_loss": "huber",
}
MOST_ROWS = 256  # of logits that are asked whether they are probabilities

DISTRIBUTIONS = os.path.join("torch", "distributions", "")
known_files = {}  # whether each is one of torch's distributions


class LossCall:
    """Lives no longer than the call: many parts are told of one, and ask it the same."""

    __slots__ = ("function", "thing", "result", "output", "target", "options", "copy", "classifies")

    def __init__(self, function, thing, result, output, target, options):
        self.function, self.thing, self.result = function, thing, result
        self.output, self.target, self.options = output, target, options
        self.copy = self.classifies = None  # not known yet

    @property
    def host_target(self):
        """The target where its numbers can be read at once, if that may be: see `on_host`."""
        if self.copy is None:
            self.copy = on_host(self.target)
        return self.copy


def is_of_distributions():
    """Whether torch's own distributions call the function whose code calls the caller: to them, a loss function is a
    piece of arithmetic."""
    frame = sys._getframe(2)
    for _ in range(2):  # the function, and what calls it
        frame = None if frame is None else frame.f_back
        if frame is not None and is_file_of_distributions(frame.f_code.co_filename):
            return True
    return False


def is_file_of_distributions(name):
    known = known_files.get(name)
    if known is None:
        known = known_files[name] = DISTRIBUTIONS in name
    return known


def has_one_class_each(call):
    """Whether a loss took one class for each sample, in numbers that can be read at once. A position of a text
    need not meet the whole vocabulary, so losses of positions are none."""
    if call.classifies is None:
        call.classifies = takes_classes(call)
    return call.classifies


def takes_classes(call):
    if call.function not in ("cross_entropy", "nll_loss") or call.output.dim() != 2 or call.target.dim() != 1:
        return False
    if call.target.is_floating_point() or not tensors.is_readable(call.target):
        return False
    return call.host_target.is_cpu


def reduction_of(options):
    """The reduction, which older programs spell in two other options."""
    average, reduce = options.get("size_average"), options.get("reduce")
    if average is None and reduce is None:
        return options.get("reduction", "mean")
    if reduce is False:
        return "none"
    return "sum" if average is False else "mean"


def rows_of(scores):
    """The first rows of one score a class; None where there are no two classes."""
    classes = 1 if scores.dim() > 1 else 0
    if scores.shape[classes] < 2 or scores.numel() == 0:
        return None
    return scores.detach().movedim(classes, -1).reshape(-1, scores.shape[classes])[:MOST_ROWS]


def count_samples(function, output, target):
    if function in ("cross_entropy", "nll_loss") and not target.is_floating_point():
        return target.numel()
    return output.shape[0] if output.dim() > 0 else 1

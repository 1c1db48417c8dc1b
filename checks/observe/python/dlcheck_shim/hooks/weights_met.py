"""Looks at the weights of a model as it is met: masks among the trained parameters, and weights whose units
all begin with the same numbers. Units that begin alike and get the same gradient stay alike for ever, so these
weights are looked at again once they have been trained.
"""

import weakref

import torch

from ..state import walking
from ..torch_api import tensors
from ..torch_api.on_host import is_at_hand

AGAIN = (4, 16, 64)  # steps before which weights are looked at again
FEWEST_ENTRIES, MOST_SUSPECTS = 16, 64  # of a mask; weights that are kept an eye on


class WeightsMet:
    def __init__(self, guard, recorder, models):
        self.recorder, self.models = recorder, models
        self.meet = guard.isolated("weights")(self.meet)
        self.look_again = guard.isolated("weights")(self.look_again)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.suspects = []  # references to weights of equal rows, with the row they began with

    def subscribe(self, moments):
        moments.model_met.append(self.meet)
        moments.sampled_stepped.append(self.end_step)

    def meet(self, root, model):
        if model.sharded or not tensors.may_compute():
            return
        with tensors.unrecorded():
            for parameter in walking.parameters(root):
                if parameter.requires_grad and tensors.is_readable(parameter) and is_at_hand(parameter):
                    self.look(root, model, parameter)

    def look(self, root, model, parameter):
        if parameter.dim() < 2 or parameter.is_complex() or parameter.numel() < FEWEST_ENTRIES:
            return
        if has_equal_rows(parameter):
            if len(self.suspects) < MOST_SUSPECTS:
                self.suspects.append((weakref.ref(parameter), parameter.detach()[0].clone()))
        elif is_mask(parameter):
            self.recorder.quantity("mask_parameter", self.thing_of(root, model, parameter), 1.0)

    def thing_of(self, root, model, parameter):
        self.models.name_parameters(model, root)
        return self.models.parameters.get(parameter, (0,))[0]

    def end_step(self):
        if self.suspects and self.recorder.step in AGAIN:
            self.look_again()

    def look_again(self):
        with tensors.unrecorded():
            for reference, first in self.suspects:
                parameter = reference()
                if parameter is None or not tensors.is_readable(parameter):
                    continue
                if has_equal_rows(parameter) and differs(parameter[0], first):
                    thing = self.models.parameters.get(parameter, (0,))[0]
                    self.recorder.quantity("equal_rows", thing, float(parameter.shape[0]))


def has_equal_rows(weight):
    """Asked of two rows first: most weights differ in them."""
    if weight.shape[0] < 2 or not torch.equal(weight[0], weight[1]):
        return False
    return bool((weight == weight[:1]).all())


def differs(row, other):
    return row.shape == other.shape and not torch.equal(row, other)


def is_mask(parameter):
    """Whether a parameter holds 0 and minus infinity alone, or 0 and 1 as a triangle does."""
    matrix = parameter.detach().reshape(-1, parameter.shape[-1])
    if matrix.shape[0] < 2 or matrix[0, 0] not in (0, 1):
        return False
    ones, zeros = matrix == 1, matrix == 0
    if bool((zeros | (matrix == -torch.inf)).all()):
        return not bool(zeros.all())
    if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 3 or not bool((ones | zeros).all()):
        return False
    return any(torch.equal(matrix, cut(torch.ones_like(matrix))) for cut in (torch.tril, torch.triu))

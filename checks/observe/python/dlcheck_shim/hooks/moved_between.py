"""Tells whether a program moved its weights since the latest backward, without a step: sharpness-aware minimization
clears the gradients of its first backward on purpose.
"""

import weakref

import torch

from ..torch_api import tensors
from ..torch_api.on_host import is_at_hand

MOST_ENTRIES = 16  # of one weight that are compared


class MovedBetween:
    def __init__(self, guard, recorder, optimizers):
        self.recorder, self.optimizers = recorder, optimizers
        self.keep = guard.isolated("clear")(self.keep)
        self.before = []  # a weak reference to a weight of each optimizer, and its first numbers
        recorder.moments.begins_anew.append(self.before.clear)

    def subscribe(self, moments):
        moments.sampled_backward_ended.append(self.keep)
        moments.sampled_stepped.append(self.before.clear)

    def keep(self):
        self.before.clear()
        if tensors.may_compute():
            for optimizer, _ in self.optimizers.ours():
                weights = (p for group in optimizer.param_groups for p in group["params"])
                weight = next((p for p in weights if p.grad is not None and tensors.is_readable(p) and is_at_hand(p)), None)
                if weight is not None:
                    self.before.append((weakref.ref(weight), entries_of(weight)))

    def any(self):
        alive = [(reference(), entries) for reference, entries in self.before]
        return any(weight is not None and not torch.equal(entries_of(weight), entries) for weight, entries in alive)


def entries_of(weight):
    with tensors.unrecorded():
        return weight.detach().reshape(-1)[:MOST_ENTRIES].clone()

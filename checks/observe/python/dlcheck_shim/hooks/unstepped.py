"""Do the parameters of an optimizer that is cleared and makes no step move all the same?

A wrapper clears what the optimizer inside it steps, and some programs write to their weights by hand.
"""

from itertools import islice

import torch

from ..record.identity import IdentityMap
from ..torch_api import tensors

MOST_PARAMETERS = 8  # of an optimizer, of those that train
MOST_ELEMENTS = 16  # of each
FIRST_LOOK = 16  # backward calls; then at each doubling


class Unstepped:
    def __init__(self, guard, recorder, optimizers):
        self.recorder, self.optimizers = recorder, optimizers
        self.look = guard.isolated("clear")(self.look)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.before = IdentityMap()  # by optimizer: what its parameters held at its first clearing
        self.built, self.backwards = IdentityMap(), 0  # by optimizer: the backward calls before it was built

    def subscribe(self, moments):
        moments.backward_ended.append(self.backward_ended)

    def made(self, optimizer):
        self.built.set(optimizer, self.backwards)

    def backward_ended(self):
        self.backwards += 1
        if self.backwards & (self.backwards - 1) == 0 and self.backwards >= FIRST_LOOK and self.optimizers.guard.is_alone():
            self.look()

    def look(self):
        """Optimizers that were built and have gradients to use: nobody has asked any for a step. Another may train
        the same parameters in its place."""
        steps = {id(p) for optimizer, watched in self.optimizers.watched.items() if watched.stepped
                 for group in optimizer.param_groups for p in group["params"]}  # fmt: skip
        for optimizer, backwards in self.built.items():
            if self.backwards - backwards < FIRST_LOOK:
                continue
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
            if any(p.grad is not None for p in parameters) and not any(id(p) in steps for p in parameters):
                watched = self.optimizers.watch(optimizer)
                self.cleared(optimizer, watched)
                self.recorder.attribute(watched.thing, "waiting", self.backwards - backwards)

    def cleared(self, optimizer, watched):
        if watched.stepped or watched.moved_otherwise or not tensors.may_compute():
            return
        with tensors.unrecorded():
            now, before = beginnings(optimizer), self.before.get(optimizer)
            if before is None or now is None or len(now) != len(before):
                self.before.set(optimizer, now)
                return
            differs = (now.to(before.device) != before).any().reshape(1)

        def write(values):
            if values[0] and not watched.moved_otherwise:
                watched.moved_otherwise = True
                self.recorder.attribute(watched.thing, "moved_otherwise", 1)

        self.recorder.transfer.add(differs, write)


def beginnings(optimizer):
    """A copy of the first elements of its first parameters that train, as one tensor; None without any.

    Frozen parameters are passed over: they do not move in a healthy program either.
    """
    parameters = (p for group in optimizer.param_groups for p in group["params"])
    training = (p for p in parameters if p.requires_grad and tensors.is_readable(p))
    parts = [p.detach().flatten()[:MOST_ELEMENTS] for p in islice(training, MOST_PARAMETERS)]
    return torch.cat([part.to(parts[0]) for part in parts]) if parts else None

"""Looks for an average of the weights that is the weights themselves: `p.data` is no copy of a parameter. An update
in two writes, `average.mul_(d).add_(p, alpha=1 - d)`, then makes all weights smaller by one factor, d * (2 - d).
"""

import weakref

import torch

from ..state.objects_alive import tensors_alive
from ..torch_api import private, tensors
from ..torch_api.on_host import is_at_hand

LOOKS = (8, 64)  # steps after which the tensors of the program are looked through
FEWEST, MOST = 2, 64  # of the parameters that have such a tensor
MOST_ENTRIES = 64  # of each that are compared
SMALLEST, ROUNDING = 0.9, 1e-5  # factor of one update; relative difference of two factors
WRITES = 2  # of an update


class Alias:
    def __init__(self, tensor, parameter):
        self.tensor, self.parameter = weakref.ref(tensor), weakref.ref(parameter)  # nothing is kept alive
        self.writes, self.before = private.version_of(tensor), entries_of(parameter)

    def is_averaged_with_itself(self):
        tensor, parameter = self.tensor(), self.parameter()
        if tensor is None or parameter is None or private.version_of(tensor) < self.writes + WRITES:
            return False
        now, before = entries_of(parameter), self.before
        if now.shape != before.shape or torch.equal(now, before) or not bool(before.any()):
            return False
        factor = float((now @ before) / before.square().sum())
        near = (now - factor * before).abs() <= ROUNDING * before.abs()
        return SMALLEST <= factor < 1 and bool(near.all())


class AliasedAverages:
    def __init__(self, guard, recorder, models):
        self.recorder, self.models = recorder, models
        self.look = guard.isolated("average")(self.look)
        self.compare = guard.isolated("average")(self.compare)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.aliases = []

    def subscribe(self, moments):
        moments.sampled_stepped.append(lambda: self.recorder.step in LOOKS and self.look())
        moments.forward_given.append(lambda model, inputs: self.aliases and self.compare())

    def look(self):
        """Right after a step: an average is updated before the next forward."""
        parameters = {p.data_ptr(): p for p, _ in self.models.parameters.items()
                      if tensors.is_readable(p) and is_at_hand(p) and private.has_alias(p)}  # fmt: skip
        if not parameters:
            return
        with tensors.unrecorded():
            for tensor in tensors_alive():
                parameter = None if not is_plain_copy(tensor) else parameters.get(tensor.data_ptr())
                if parameter is not None and tensor.shape == parameter.shape and len(self.aliases) < MOST:
                    if private.version_of(tensor) != private.version_of(parameter):  # `.data` counts by itself
                        self.aliases.append(Alias(tensor, parameter))

    def compare(self):
        aliases, self.aliases = self.aliases, []
        with tensors.unrecorded():
            written = sum(alias.is_averaged_with_itself() for alias in aliases)
        if written >= FEWEST:
            thing = self.recorder.thing("average", 0, "average")
            self.recorder.quantity("aliased_average", thing, float(written), float(len(aliases)))


def is_plain_copy(tensor):
    return tensors.is_readable(tensor) and is_at_hand(tensor) and not tensor.requires_grad and tensor.is_floating_point()


def entries_of(parameter):
    return parameter.detach().reshape(-1)[:MOST_ENTRIES].double().clone()

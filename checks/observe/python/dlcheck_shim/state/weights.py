"""What an optimizer's parameters hold before and after a sampled step."""

import math

from ..record.digest import digest
from ..torch_api import private, tensors
from .optimizers import next_to_copy, parameters_of


class Weights:
    def __init__(self, recorder):
        self.recorder = recorder

    def copy(self, optimizer, watched):
        chosen = next_to_copy(watched, parameters_of(optimizer))
        watched.before = [(p, tensors.local(p.detach()).clone()) for p in chosen]

    def digest(self, optimizer, watched):
        if all(map(tensors.is_plain, parameters_of(optimizer))):
            number = digest(parameters_of(optimizer))
            self.recorder.quantity("weights_digest", watched.thing, number >> 32,
                                   number & 0xFFFFFFFF)  # fmt: skip

    def write(self, optimizer, watched):
        parameters = [p for p in parameters_of(optimizer) if not p.is_meta]
        if not parameters:
            return
        recorder, at = self.recorder, (self.recorder.step, self.recorder.micro_step)
        before, watched.before = watched.before, []
        changes = [old for _, old in before]
        if changes:
            private.foreach_sub_(changes, [tensors.local(p.detach()) for p, _ in before])
        measured = [tensors.local(p.detach()) for p in parameters] + changes
        things = [watched.things.get(p, 0) for p in parameters]
        changed = [watched.things.get(p, 0) for p, _ in before]

        def write(values):
            rows = []
            for thing, parameter, value in zip(things, parameters, values):
                aux = 0 if math.isfinite(value) else tensors.count_nonfinite(parameter.detach())
                rows.append((thing, value, aux))
            recorder.quantities("weight_norm", rows, watched.thing, at=at)
            rows = [(thing, value, 0) for thing, value in zip(changed, values[len(things) :])]
            recorder.quantities("update_norm", rows, watched.thing, at=at)

        recorder.transfer.add(tensors.norms(measured), write)

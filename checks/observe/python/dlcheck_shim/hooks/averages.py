"""Watches PyTorch's own averages of weights: how far they are from the weights and how far an update
moves them."""

import torch

from ..state import walking
from ..torch_api import tensors
from ..torch_api.wrapping import Around, replace


class Averages:
    def __init__(self, guard, recorder, built):
        self.guard, self.recorder, self.built = guard, recorder, built
        self.copy = guard.isolated("average")(self.copy)
        self.write = guard.isolated("average")(self.write)

    def watch_all(self):
        average = getattr(torch.optim.swa_utils, "AveragedModel", None)
        if average is not None:
            replace([average], "update_parameters", Around(self.begins, self.write))

    def begins(self, args, kwargs):
        if not self.recorder.sampled or self.guard.elsewhere():
            return None
        model = args[1] if len(args) > 1 else kwargs["model"]
        before = self.copy(args[0])
        return None if before is None else (args[0], model, before)

    def copy(self, averaged):
        if not tensors.may_compute():
            return None
        return [p.detach().clone() for p in walking.parameters(averaged)]

    def write(self, token, result):
        averaged, model, before = token
        after = [p.detach() for p in walking.parameters(averaged)]
        live = [p.detach() for p in walking.parameters(model)]
        if len(live) != len(after) or not all(map(tensors.is_plain, live)):
            return
        recorder = self.recorder
        thing, at = recorder.thing("average", 0, "average"), (recorder.step, recorder.micro_step)
        self.built.tell_once("average_built", averaged, thing)
        with tensors.unrecorded():
            pairs = [(after, live), (after, before)]
            sizes = [total(a, b) for a, b in pairs]

        def use(values):
            recorder.quantity("average_distance", thing, values[0], at=at)
            recorder.quantity("average_update", thing, values[1], at=at)

        recorder.transfer.add(torch.stack(sizes), use)


def total(some, others):
    """L2 norm of the difference of two lists of tensors."""
    differences = [a.double() - b.to(a.device).double() for a, b in zip(some, others)]
    return tensors.norms(differences).norm()

"""The parameters of one optimizer at a rate of 0, compared with what they were a step ago."""

import math

import torch

from ...torch_api import tensors

STEPS = 12  # of each optimizer
SETTLING = 4  # of them: what is projected, or initialized by the first batch, comes to rest


class Resting:
    """Does not keep the optimizer alive."""

    def __init__(self, watch, optimizer):
        self.watch, self.thing = watch, watch.steps.optimizers.watch(optimizer).thing
        self.steps, self.kept, self.between, self.trained = 0, [], set(), {}
        self.reason = None  # why nothing more is compared
        isolated = watch.guard.isolated("zero_rate", runs_program=True)
        self.before, self.after = isolated(self.before), isolated(self.after)

    def give_up(self, reason):
        if self.reason is None:
            self.reason, self.kept = reason, []
            self.watch.recorder.attribute(self.thing, "untried/zero_rate", reason)

    def before(self, optimizer):
        """As a step begins: what changed since the last one ended?"""
        self.trained = with_gradients(optimizer)
        with tensors.unrecorded():
            self.between = {id(p) for p, kept in self.kept if not torch.equal(own_part(p), kept)}

    def after(self, optimizer):
        self.steps += 1
        if any(group.get("lr") not in (None, 0) for group in optimizer.param_groups):
            self.give_up("the optimizer sets its own learning rate in step()")
        if self.reason is not None or not tensors.may_compute():
            return
        with tensors.unrecorded():
            if self.steps > SETTLING:
                self.compare(optimizer)
            trained = {**self.trained, **with_gradients(optimizer)}  # a step may drop or work them out
            self.kept = [(p, own_part(p).clone()) for p in trained.values()]

    def compare(self, optimizer):
        pairs = [(p, own_part(p), kept) for p, kept in self.kept if p.requires_grad]
        pairs = [pair for pair in pairs if pair[1].shape == pair[2].shape and is_finite(pair[2])]
        if not pairs:
            self.give_up("no weight of the optimizer has a finite gradient at learning rate 0")
            return
        self.watch.recorder.quantity("rested_parameters", self.thing, float(len(pairs)))
        usual = root_mean_square([kept for _, _, kept in pairs])
        watched = self.watch.steps.optimizers.watch(optimizer)
        self.watch.steps.optimizers.name_parameters(optimizer, watched)
        for parameter, now, kept in pairs:
            # What a batch, or a mask, does to some weights alone is no change for want of a rate.
            if 2 * int((now != kept).sum()) > int((kept != 0).sum()):
                self.write(watched.things.get(parameter, 0), parameter, now, kept, usual)

    def write(self, thing, parameter, now, kept, usual):
        moved = now.double() - kept.double()
        size = max(usual, root_mean_square([kept]))
        share = root_mean_square([moved]) / size if size else math.inf
        recorder, between = self.watch.recorder, float(id(parameter) in self.between)
        recorder.quantity("unscaled_change", thing, share, torch.finfo(kept.dtype).eps, owner=self.thing)
        recorder.quantity("unscaled_direction", thing, cosine(moved, kept), between, owner=self.thing)


def with_gradients(optimizer):
    """By identity, the parameters that a step works with and whose numbers can be read."""
    parameters = (p for group in optimizer.param_groups for p in group["params"])
    return {id(p): p for p in parameters if p.grad is not None and tensors.is_readable(own_part(p))}


def own_part(parameter):
    """What this process holds of it."""
    return tensors.local(parameter.detach())


def is_finite(tensor):
    return bool(tensor.isfinite().all())


def root_mean_square(parts):
    count = sum(part.numel() for part in parts)
    square = sum(float(part.double().square().sum()) for part in parts)
    return math.sqrt(square / count) if count else 0.0


def cosine(one, other):
    """Of the angle between two tensors; 0 where one of them is."""
    one, other = one.double().flatten(), other.double().flatten()
    size = float(one.norm() * other.norm())
    return float(one @ other) / size if size else 0.0

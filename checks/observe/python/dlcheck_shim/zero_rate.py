"""The experiment zero_rate: every optimizer steps at a learning rate of 0, from the first step on, and
its weights are compared with what they were a step ago.

The program and its schedulers find their rates as they left them. Dropout is off, so that fewer
programs draw random numbers.
"""

import math

import torch

from . import tensors
from .identity import IdentityMap
from .other_steps import OtherSteps
from .stand_ins import switch_dropout_off
from .trials.bench import Randomness

STEPS = 12  # of each optimizer
SETTLING = 4  # of them: what is projected, or initialised by the first batch, comes to rest


class ZeroRate(OtherSteps):
    def __init__(self, watch, stop):
        super().__init__()
        self.watch, self.stop, self.stepping = watch, stop, False
        self.resting = IdentityMap()  # by optimizer

    def begin(self):
        switch_dropout_off()
        self.take_over()

    def instead(self, optimizer, args, kwargs):
        own = type(optimizer).step
        # An optimizer may call another in the middle of its step.
        if self.watch.guard.elsewhere() or self.stepping:
            return own(optimizer, *args, **kwargs)
        resting = self.resting.get(optimizer)
        if resting is None:
            resting = Resting(self.watch, optimizer)
            self.resting.set(optimizer, resting)
        resting.before()
        self.stepping = True
        try:
            with AtZero([] if has_own_steps(optimizer) else optimizer.param_groups):
                return own(optimizer, *args, **kwargs)
        finally:
            self.stepping = False
            resting.after(optimizer)
            if all(resting.steps >= STEPS for _, resting in self.resting.items()):
                self.stop()


class AtZero:
    """As a context, the rates of some groups are 0."""

    def __init__(self, groups):
        self.rates = [(group, group["lr"]) for group in groups if has_rate(group)]

    def __enter__(self):
        for group, rate in self.rates:
            group["lr"] = torch.zeros_like(rate) if isinstance(rate, torch.Tensor) else 0.0

    def __exit__(self, *error):
        for group, rate in self.rates:
            group["lr"] = rate


class Resting:
    """The parameters of one optimizer, step by step. Does not keep it alive."""

    def __init__(self, watch, optimizer):
        self.watch = watch
        self.thing = watch.steps.optimizers.watch(optimizer).thing
        self.steps, self.kept, self.randomness = 0, [], None
        self.before = watch.guard.isolated("zero_rate")(self.before)
        self.after = watch.guard.isolated("zero_rate")(self.after)

    def before(self):
        """As a step begins: did anything change since the last one ended?"""
        if self.steps >= SETTLING and any(not same(p, kept) for p, kept in self.kept):
            self.watch.recorder.attribute(self.thing, "changed_between_steps", 1)

    def after(self, optimizer):
        parameters = rated_parameters(optimizer)
        self.steps += 1
        if not parameters:
            self.watch.recorder.attribute(self.thing, "untried/zero_rate", why_none(optimizer))
        elif tensors.may_compute():
            with tensors.unrecorded():
                if self.steps > SETTLING:
                    self.compare(optimizer)
                self.kept = [(p, own_part(p).clone()) for p in parameters]
            self.randomness = Randomness()

    def compare(self, optimizer):
        recorder = self.watch.recorder
        pairs = [(p, own_part(p), kept) for p, kept in self.kept if p.requires_grad]
        pairs = [pair for pair in pairs if pair[1].shape == pair[2].shape and is_finite(pair[2])]
        drew = not self.randomness.equals(Randomness())
        recorder.quantity("rested_parameters", self.thing, float(len(pairs)), float(drew))
        usual = root_mean_square([kept for _, _, kept in pairs])
        things = self.watch.steps.optimizers.watch(optimizer).things
        for parameter, now, kept in pairs:
            if torch.equal(now, kept):
                continue
            moved = now.double() - kept.double()
            size = max(usual, root_mean_square([kept]))
            share = root_mean_square([moved]) / size if size else math.inf
            thing = things.get(parameter, 0)
            recorder.quantity("unscaled_change", thing, share, torch.finfo(kept.dtype).eps)
            recorder.quantity("unscaled_direction", thing, cosine(moved, kept), 0.0)


def has_own_steps(optimizer):
    """Whether a rate of 0 means nothing to it, or not even works."""
    return isinstance(optimizer, (torch.optim.Rprop, torch.optim.LBFGS))


def why_none(optimizer):
    if has_own_steps(optimizer):
        return "a rate is only where the step sizes of its optimizer begin"
    return "its optimizer has no rate in its groups, or nothing that can be compared"


def rated_parameters(optimizer):
    """Those that train at a rate."""
    if has_own_steps(optimizer):
        return []
    groups = filter(has_rate, optimizer.param_groups)
    own = {id(p): p for group in groups for p in group["params"]}
    return [p for p in own.values() if p.requires_grad and tensors.is_readable(own_part(p))]


def has_rate(group):
    return group.get("lr") is not None


def own_part(parameter):
    """What this process holds of it."""
    return tensors.local(parameter.detach())


def same(parameter, kept):
    return torch.equal(own_part(parameter), kept)


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

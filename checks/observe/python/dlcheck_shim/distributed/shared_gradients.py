"""Watches what a program does to gradients between the backward in which a wrapper shared them and the
step, its scaler or its clipping: whether it multiplies them all by one number."""

import weakref

import torch

from ..hooks.scalers import scaler_classes
from ..torch_api import tensors
from ..torch_api.wrapping import preceded_by, replace
from .groups import REPLICAS

MOST_PARAMETERS = 3
MOST_NUMBERS = 32  # of each
FEWEST_STEPS = 4  # with the same factor, before it is told
TOLERANCE = 0.01  # half precision rounds a third by a 256th


class SharedGradients:
    def __init__(self, guard, recorder, replicas):
        self.recorder, self.replicas = recorder, replicas
        self.keep_numbers = guard.isolated("shared gradients")(self.keep_numbers)
        self.compare = guard.isolated("shared gradients")(self.compare)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.kept = []  # (weak reference to a parameter, numbers of its gradient, its members)
        self.factors = {}  # by members: (factor, steps); no factor where it is another at times

    def watch_all(self):
        before = preceded_by(lambda *_: self.compare())
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            replace([torch.nn.utils, torch.nn.utils.clip_grad], name, before)
        for scaler in scaler_classes():
            replace([scaler], "unscale_", before)
            replace([scaler], "step", before)

    def subscribe(self, moments):
        moments.sampled_backward_ended.append(self.keep)
        moments.sampled_gradients_used.append(self.consumed)

    def keep(self):
        """After a backward: a few numbers of the gradients that a wrapper has shared."""
        self.kept = []
        if self.replicas.wrapped.entries:
            self.keep_numbers()

    def keep_numbers(self):
        if not tensors.may_compute():
            return
        for _, wrapped in self.replicas.wrapped.items():
            for parameter, _ in wrapped.held.items():
                if len(self.kept) < MOST_PARAMETERS and is_in_one_piece(parameter.grad):
                    self.kept.append((weakref.ref(parameter), numbers(parameter.grad), wrapped.members))

    def compare(self):
        """Before gradients are clipped, unscaled or used: what became of them."""
        kept, self.kept = self.kept, []
        found = {}  # factors by members
        for reference, before, members in kept:
            parameter = reference()
            if parameter is not None and is_in_one_piece(parameter.grad):
                factor = factor_between(before, numbers(parameter.grad))
                found.setdefault(members, []).append(factor)
        for members, factors in found.items():
            known = [factor for factor in factors if factor != 0]
            if known:
                self.add(members, known[0] if are_equal(known) else None)

    def consumed(self, optimizer, watched):
        if self.kept:
            self.compare()

    def add(self, members, factor):
        told, steps = self.factors.setdefault(members, (factor, 0))
        if told is None:
            return
        if factor is None or not are_equal([told, factor]):
            self.factors[members] = (None, 0)
            if steps >= FEWEST_STEPS:
                self.tell(members, 0)
            return
        self.factors[members] = (told, steps + 1)
        if steps + 1 == FEWEST_STEPS:
            self.tell(members, told)

    def tell(self, members, factor):
        """0 takes back what was told: it is another at times."""
        self.recorder.attribute(self.replicas.thing(REPLICAS, members), "gradients_times", factor)


def is_in_one_piece(gradient):
    return tensors.is_readable(gradient) and gradient.is_contiguous() and gradient.is_floating_point()


def numbers(gradient):
    with tensors.unrecorded():
        return gradient.detach().reshape(-1)[:MOST_NUMBERS].to(torch.float64, copy=True)


def factor_between(before, after):
    """What the one was multiplied by to give the other; 0 if they are zero, None if by no number."""
    with tensors.unrecorded():
        place = before.abs().argmax()
        largest = before[place].item()
        if largest == 0 or not bool(before.isfinite().all() and after.isfinite().all()):
            return 0
        factor = after[place].item() / largest
        close = (after - factor * before).abs().max().item() <= TOLERANCE * abs(factor * largest)
        return factor if factor and close else None


def are_equal(factors):
    return None not in factors and all(abs(f - factors[0]) <= TOLERANCE * abs(factors[0]) for f in factors)

"""Compares the targets that a loss function is given in training with those that it is given in an evaluation: their
mean and spread. Targets that were normalized for training alone are others there.
"""

import math

from ..torch_api import tensors
from .input_scales import moments_of

FUNCTIONS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
FEWEST_ENTRIES, MOST_ENTRIES = 256, 1 << 16  # of all training targets, of one batch
FEWEST_EVALUATED = 16
MOST_TOLD = 8


class TargetScales:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.trained, self.told = {}, 0  # by thing of a loss: count, sum, sum of squares

    def subscribe(self, moments):
        moments.loss_compared.append(self.train)
        moments.evaluation_loss.append(self.evaluate)

    def train(self, call):
        sums = sums_of(call)
        if sums is not None:
            self.trained[call.thing] = [a + b for a, b in zip(self.trained.get(call.thing, (0, 0.0, 0.0)), sums)]

    def evaluate(self, call):
        before = self.trained.get(call.thing)
        if before is None or before[0] < FEWEST_ENTRIES or self.told == MOST_TOLD:
            return
        sums = sums_of(call)
        if sums is None or sums[0] < FEWEST_EVALUATED:
            return
        (mean, spread), (mean_now, spread_now) = moments_of(before), moments_of(sums)
        if spread > 0 and spread_now > 0:
            self.told += 1
            self.recorder.quantity("evaluation_targets", call.thing, spread_now / spread, (mean_now - mean) / spread,
                                   self.sites.current(always=True))  # fmt: skip


def sums_of(call):
    if call.function not in FUNCTIONS:
        return None
    target = call.host_target
    if not tensors.is_readable(target) or not target.is_cpu or not target.numel():
        return None
    values = target.detach().reshape(-1)[:MOST_ENTRIES].double()
    total, squares = float(values.sum()), float(values.square().sum())
    return (values.numel(), total, squares) if math.isfinite(squares) else None

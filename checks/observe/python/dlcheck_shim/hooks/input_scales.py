"""Compares the numbers that a model is trained on with those that it is evaluated on: their mean and spread."""

import math

import torch

from ..torch_api import tensors
from ..torch_api.on_host import is_at_hand

FEWEST_ENTRIES = 256
MOST_ENTRIES = 1 << 16  # of a batch
FIRST = 16  # batches of a run, after which only those of steps with digests count


class InputScales:
    def __init__(self, guard, recorder, sites, forwards):
        self.recorder, self.sites, self.forwards = recorder, sites, forwards
        self.train, self.evaluate = guard.isolated("scale")(self.train), guard.isolated("scale")(self.evaluate)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.trained = {}  # by thing of a model and entries of a row: count, sum, sum of squares
        self.batches = 0

    def subscribe(self, moments):
        moments.batch_compared.append(self.train)
        moments.evaluation_batch.append(self.evaluate)

    def train(self, inputs):
        self.batches += 1
        if self.batches > FIRST and not self.recorder.digests:
            return
        found = self.sums_of(inputs)
        if found is not None:
            key, sums = found
            self.trained[key] = [a + b for a, b in zip(self.trained.get(key, (0, 0.0, 0.0)), sums)]

    def evaluate(self, inputs):
        """The first batch of each evaluation: later inputs may be what the model made of earlier ones."""
        if self.forwards.evaluations.phase.batches > 1:
            return
        found = self.sums_of(inputs)
        before = None if found is None else self.trained.get(found[0])
        if before is None or before[0] < FEWEST_ENTRIES or found[1][0] < FEWEST_ENTRIES:
            return
        (mean, spread), (mean_now, spread_now) = moments_of(before), moments_of(found[1])
        if spread > 0 and spread_now > 0 and self.forwards.evaluations.phase.takes_data:
            self.recorder.quantity("evaluation_scale", found[0][0], spread_now / spread,
                                   (mean_now - mean) / spread, self.sites.current(always=True))  # fmt: skip

    def sums_of(self, inputs):
        """Of the first input, if it is one of fractions."""
        batch = next((i for i in inputs if isinstance(i, torch.Tensor)), None)
        model = self.forwards.model
        if model is None or not tensors.is_plain(batch) or batch.layout is not torch.strided or not is_at_hand(batch) or not tensors.may_compute():
            return None
        if not batch.is_floating_point() or batch.dim() < 2 or batch.numel() == 0:
            return None
        with tensors.unrecorded():
            values = batch.detach().reshape(-1)[:MOST_ENTRIES].double()
            total, squares = torch.stack([values.sum(), values.square().sum()]).tolist()
        if not math.isfinite(squares):
            return None
        return (model.thing, batch.dim(), batch.shape[1]), (values.numel(), total, squares)


def moments_of(sums):
    count, total, squares = sums
    mean = total / count
    return mean, math.sqrt(max(squares / count - mean * mean, 0.0))

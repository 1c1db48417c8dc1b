"""Counts the samples of the first pass over a data set that are equal to one before."""

import collections

import torch

from ..torch_api import tensors
from ..torch_api.on_host import on_host

FEWEST_ENTRIES, LEAST_SHARE = 8, 0.5  # of a row; of its entries that are no zero and no whole number
FEWEST_ROWS = 32
MOST_AGAIN = 4


class RepeatedSamples:
    def __init__(self, guard, recorder, loaders):
        self.recorder, self.loaders = recorder, loaders
        self.enters = guard.isolated("rows")(self.enters)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.passes, self.usable = 0, False
        self.met, self.rows, self.told = set(), 0, 0
        self.latest = collections.deque(maxlen=MOST_AGAIN)  # the latest batches, by their numbers

    def subscribe(self, moments):
        moments.pass_begins.append(self.begins)
        moments.batch_enters.append(self.enters)
        moments.rows_trained.append(self.count)
        moments.step_ends.append(self.end_step)

    def begins(self):
        self.passes += 1

    def enters(self, inputs):
        """Rows of fractions are hardly ever equal by chance; those of few categories are."""
        rows = next((i for i in inputs if isinstance(i, torch.Tensor)), None)
        self.usable = False
        if self.passes != 1 or not self.loaders.draws_each_once() or not tensors.is_readable(rows):
            return
        if not rows.is_floating_point() or rows.dim() < 2 or rows[:1].numel() < FEWEST_ENTRIES or not (rows := on_host(rows)).is_cpu:
            return
        with tensors.unrecorded():
            fractions = (rows.detach() != rows.detach().round()).double().mean()
        self.usable = float(fractions) >= LEAST_SHARE

    def count(self, numbers):
        """A step may call several models on one batch, or one model again."""
        batch = hash(tuple(numbers))
        if self.usable and batch not in self.latest:
            self.rows += len(numbers)
            self.met.update(numbers)
            self.latest.append(batch)
        self.usable = False

    def end_step(self, owner):
        repeated = self.rows - len(self.met)
        if self.passes == 1 and self.rows >= FEWEST_ROWS and repeated >= 2 * self.told + 1:
            self.told = repeated
            thing = self.recorder.thing("batch", 0, "input")
            self.recorder.quantity("repeated_samples", thing, float(repeated), float(self.rows))

"""Looks whether the inputs of an evaluation were normalized by their own mean and spread: only then are these 0 and 1
to many digits. Those of training belong there.
"""

import torch

from ..torch_api import tensors
from ..torch_api.on_host import on_host
from .evaluations import MOST_BATCHES

FEWEST_SAMPLES, FEWEST_ENTRIES, MOST_ENTRIES = 32, 2, 4096
MEAN, SPREAD = 1e-4, 0.02  # how near to 0 and 1; a spread over n - 1 is no 1 over n
# Of one mean and spread over all entries, which numbers from a normal distribution have by chance in 1 of 10,000 runs:
MEAN_OF_ALL, SPREAD_OF_ALL = 1e-3, 2e-3  # standard errors; as above
LEAST_SHARE = 0.9  # of the entries that vary
EACH, TOGETHER = 1.0, 2.0


class OwnStatistics:
    def __init__(self, guard, recorder, sites, evaluations):
        self.recorder, self.sites, self.evaluations = recorder, sites, evaluations
        self.add, self.write = guard.isolated("statistics")(self.add), guard.isolated("statistics")(self.write)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        # Of the evaluation under way: its samples, sums and sums of squares of each entry, and largest mean of a sample.
        self.phase, self.samples, self.sums, self.squares, self.row_mean, self.site = None, 0, None, None, 0.0, 0
        self.whole = True

    def subscribe(self, moments):
        moments.evaluation_batch.append(self.add)
        moments.evaluation_over.append(self.write)

    def add(self, inputs):
        phase = self.evaluations.phase
        if phase is not self.phase:
            self.reset()
            self.phase = phase
        rows = rows_of(inputs) if self.whole and phase.takes_data and tensors.may_compute() else None
        if rows is None or self.sums is not None and rows.shape[1] != len(self.sums):
            self.whole = False
            return
        with tensors.unrecorded():
            if self.sums is None:
                self.sums, self.squares = torch.zeros(2, rows.shape[1], dtype=torch.double)
                self.site = self.sites.current(always=True)
            self.samples += rows.shape[0]
            self.sums, self.squares = self.sums + rows.sum(0), self.squares + rows.square().sum(0)
            self.row_mean = max(self.row_mean, float(rows.mean(1).abs().max()))

    def write(self, phase):
        """An evaluation on what was trained on is left alone."""
        samples, sums, squares, row_mean, site = self.samples, self.sums, self.squares, self.row_mean, self.site
        known = phase is self.phase and self.whole and phase.batches <= MOST_BATCHES
        self.reset()
        if not known or samples < FEWEST_SAMPLES or phase.is_known_late or phase.rows & self.evaluations.trained:
            return
        if not self.evaluations.trained:
            return
        with tensors.unrecorded():
            kind = normalization_of(samples, sums, squares, row_mean)
        if kind:
            self.recorder.quantity("own_statistics", phase.model.thing, kind, float(samples), site)


def rows_of(inputs):
    """(samples, entries) of the first input, in double precision; None if it has no fractions."""
    given = next((i for i in inputs if isinstance(i, torch.Tensor)), None)
    if given is None or not tensors.is_readable(given) or not given.is_floating_point():
        return None
    if given.dim() < 2 or not FEWEST_ENTRIES <= given[:1].numel() <= MOST_ENTRIES or not (given := on_host(given)).is_cpu:
        return None
    rows = given.detach().reshape(given.shape[0], -1)
    return rows.double()


def normalization_of(samples, sums, squares, row_mean):
    """EACH or TOGETHER, 0.0 for neither. Where each sample has a mean of zero, it was normalized by itself."""
    means = sums / samples
    spreads = (squares / samples - means.square()).clamp_min(0).sqrt()
    varies = spreads > 0
    if not bool(means.isfinite().all()) or int(varies.sum()) < FEWEST_ENTRIES or row_mean < MEAN:
        return 0.0
    if float((are_normal(means, spreads) & varies).double().sum() / varies.sum()) >= LEAST_SHARE:
        return EACH
    mean = means.mean()
    spread = (squares.sum() / (samples * len(sums)) - mean.square()).clamp_min(0).sqrt()
    count = samples * len(sums)
    is_normal = abs(float(mean)) * count**0.5 < MEAN_OF_ALL and abs(float(spread) - 1) < SPREAD_OF_ALL
    return TOGETHER if is_normal and count >= MOST_ENTRIES else 0.0


def are_normal(means, spreads):
    return (means.abs() < MEAN) & ((spreads - 1).abs() < SPREAD)

"""Watches the metrics that ReduceLROnPlateau is given: whether they move in the direction that its mode takes
for worse, from the start of a run to its end.
"""

import torch

from ..torch_api.attributes import attribute
from .target_classes import rank_correlation

FEWEST, MOST = 4, 512  # metrics that are kept
MOST_THINGS, NEAR = 4096, 1e-3


class Plateaus:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.add, self.write = guard.isolated("plateau")(self.add), guard.isolated("plateau")(self.write)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.given = {}  # by mode: what such schedulers were given, and the line of the last call

    def add(self, scheduler, args, kwargs):
        """Before `step(metrics)` of a scheduler."""
        metric = args[1] if len(args) > 1 else kwargs.get("metrics")
        if isinstance(metric, torch.Tensor) and metric.numel() == 1:
            metric = metric.item()
        mode = attribute(scheduler, "mode")
        if isinstance(metric, (int, float)) and mode in ("min", "max"):
            metrics, _ = self.given.get(mode, ([], 0))
            if len(metrics) < MOST:
                self.given[mode] = (metrics + [float(metric)], self.sites.current(always=True))

    def write(self):
        """As the run ends."""
        for mode, (metrics, site) in self.given.items():
            if len(metrics) >= FEWEST:
                order = rank_correlation(torch.arange(float(len(metrics)), dtype=torch.double),
                                         torch.tensor(metrics, dtype=torch.double))  # fmt: skip
                thing = self.recorder.thing("scheduler", 0, mode)
                self.recorder.quantity("plateau_order", thing, order, float(are_shares(metrics)), site=site)


def are_shares(metrics):
    """Whether all are shares of one number of things, as an accuracy is of samples: multiples of 1/n."""
    if min(metrics) < 0 or max(metrics) > 1 or len(set(metrics)) < FEWEST:
        return False
    parts = torch.tensor(metrics, dtype=torch.double) * torch.arange(1.0, MOST_THINGS, dtype=torch.double)[:, None]
    return bool(((parts - parts.round()).abs() < NEAR).all(1).any())

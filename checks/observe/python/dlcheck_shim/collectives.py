"""Watches what the program says to other processes through torch.distributed, in order.

What runs below Python is not seen: DistributedDataParallel averages gradients in C++.
"""

import functools

import torch

from .names import EVENTS
from .wrapping import followed_by, replace

OPERATIONS = (
    "all_reduce", "all_gather", "all_gather_into_tensor", "all_gather_object",
    "all_gather_coalesced", "reduce_scatter", "reduce_scatter_tensor", "broadcast", "barrier",
    "all_to_all", "all_to_all_single",
)  # fmt: skip
COLLECTIVE = EVENTS["collective"]


class Collectives:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.seen = guard.isolated("collective")(self.seen)

    def watch(self, distributed):
        """`distributed` is torch.distributed; a build of torch may have nothing in it."""
        owners = [distributed, getattr(distributed, "distributed_c10d", distributed)]
        for name in OPERATIONS:
            replace(owners, name, followed_by(functools.partial(self.seen, name)))

    def seen(self, name, result, args, kwargs):
        recorder = self.recorder
        if not recorder.sampled:
            recorder.count(COLLECTIVE)
            return
        size = max(map(bytes_of, (*args, *kwargs.values())), default=0)
        thing = recorder.thing("collective", 0, name)
        recorder.event("collective", thing, float(size), site=self.sites.current())


def bytes_of(argument):
    """Of a tensor or of all in a list; 0 for anything else."""
    if isinstance(argument, (list, tuple)):
        return sum(map(bytes_of, argument))
    if not isinstance(argument, torch.Tensor):
        return 0
    return argument.numel() * argument.element_size()

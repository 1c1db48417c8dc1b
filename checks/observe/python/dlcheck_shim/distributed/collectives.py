"""Watches what the program says to other processes through torch.distributed, in order: each call
before it is made, so that one that never comes back is known, too.

What runs below Python is not seen: DistributedDataParallel averages gradients in C++.
"""

import functools
import inspect

import torch

from ..record.names import EVENTS
from ..torch_api.wrapping import preceded_by, replace
from .groups import PEERS

# Those of which all processes have to give, and get, equally many bytes.
EVEN = (
    "all_reduce", "all_gather", "all_gather_into_tensor", "all_gather_coalesced",
    "reduce_scatter", "reduce_scatter_tensor", "broadcast", "reduce", "barrier",
)  # fmt: skip
UNEVEN = ("all_gather_object", "broadcast_object_list", "all_to_all", "all_to_all_single")
# From one process to one: only that it was called is told.
TO_ONE = ("send", "recv", "isend", "irecv", "batch_isend_irecv")
# What a process gives, by the names of the arguments; else all tensors are meant.
GIVEN = ("tensor", "input_tensor", "input")
COLLECTIVE = EVENTS["collective"]


class Collectives:
    def __init__(self, guard, recorder, sites, groups):
        self.recorder, self.sites, self.groups = recorder, sites, groups
        self.seen = guard.isolated("collective")(self.seen)
        self.to_one = guard.isolated("collective")(self.to_one)

    def watch(self, distributed):
        """`distributed` is torch.distributed; a build of torch may have nothing in it."""
        owners = [distributed, getattr(distributed, "distributed_c10d", distributed)]
        for name in EVEN + UNEVEN:
            function = getattr(distributed, name, None)
            if function is not None:
                order = tuple(inspect.signature(function).parameters)
                replace(owners, name, preceded_by(functools.partial(self.seen, name, order)))
        for name in TO_ONE:
            if hasattr(distributed, name):
                replace(owners, name, preceded_by(self.to_one))

    def to_one(self, args, kwargs):
        self.recorder.moments.message_passed()

    def seen(self, name, order, args, kwargs):
        recorder = self.recorder
        given = dict(zip(order, args)) | kwargs
        found = [tensor for value in given.values() for tensor in tensors_in(value)]
        members = self.groups.members(given.get("group"))
        sent = [tensor for key in GIVEN for tensor in tensors_in(given.get(key))]
        recorder.moments.collective_called(name, sent or found, members)
        if not recorder.sampled:
            recorder.count(COLLECTIVE)
            return
        size = max((sum(map(bytes_of, tensors_in(value))) for value in given.values()), default=0)
        kinds = {str(tensor.dtype).removeprefix("torch.") for tensor in found}
        words = [name, *sorted(kinds)] if name in EVEN else [name]
        thing = recorder.thing("collective", 0, " ".join(words))
        recorder.event("collective", thing, float(size), site=self.sites.current(),
                       owner=self.groups.thing(PEERS, members) if members else 0)  # fmt: skip
        recorder.writer.flush()  # one that the others do not call alike ends the process, or hangs


def tensors_in(value):
    """A tensor, or all in a list."""
    if isinstance(value, (list, tuple)):
        return [tensor for part in value for tensor in tensors_in(part)]
    return [value] if isinstance(value, torch.Tensor) else []


def bytes_of(tensor):
    return tensor.numel() * tensor.element_size()

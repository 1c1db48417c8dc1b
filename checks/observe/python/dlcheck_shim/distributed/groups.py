"""The processes that train together, and the groups in which they speak to each other.

A group is a thing of kind `replicas`, whose members are meant to hold the same weights, `copies`, who
hold the same pieces of tensors that are spread over processes and may work on the same data, or
`peers`. Its name is the numbers of its members, as "0-3" or "0,2", the same on all of them.
"""

import sys

from ..record.launched import ranks_attribute
from ..torch_api.wrapping import followed_by, replace

REPLICAS, COPIES, PEERS = "replicas", "copies", "peers"


class Groups:
    def __init__(self, guard, recorder):
        self.recorder, self.distributed = recorder, None
        self.met = 1  # processes that met, also after they parted
        self.joined = guard.isolated("groups", anywhere=True)(self.joined)

    def watch(self, distributed):
        """`distributed` is torch.distributed; a build of torch may have nothing in it."""
        if getattr(distributed, "is_available", lambda: False)():
            self.distributed = distributed
            meshes = getattr(distributed, "device_mesh", None)  # which begins a group where none is
            owners = [distributed, distributed.distributed_c10d, meshes]
            replace(owners, "init_process_group", followed_by(self.joined))

    def joined(self, *_):
        """The number of this process is known, which no launcher may have said."""
        self.met = self.size()
        if self.met > 1:
            self.recorder.set_rank(self.distributed.get_rank())
            self.recorder.begin()  # what hangs before any training is to be known, too
            for key, value in ranks_attribute(str(self.size())).items():
                self.recorder.attribute(0, key, value)

    def size(self):
        """Of all processes together; 1 before they have met."""
        distributed = self.distributed
        return distributed.get_world_size() if distributed and distributed.is_initialized() else 1

    def members(self, group=None):
        """The numbers of the processes of a group, ascending; empty if this one is not in it."""
        distributed = self.distributed
        if group is None:
            return tuple(range(self.size()))
        if not isinstance(group, distributed.ProcessGroup):
            return ()
        found = getattr(distributed, "get_process_group_ranks", None)
        return tuple(sorted(found(group))) if found else ()

    def all(self):
        """The thing of all that met."""
        return self.thing(PEERS, range(self.met))

    def write_end(self):
        """How this process ends: a hang or a failure elsewhere may come from one that just ended."""
        if self.met > 1:
            thing = self.recorder.thing("process", 0, str(self.recorder.rank))
            raised = getattr(sys, "last_type", None)
            self.recorder.attribute(thing, "ended", raised.__name__ if raised else "finished")

    def thing(self, kind, members):
        return self.recorder.thing(kind, 0, name_of(members))


def name_of(members):
    """The numbers, neighbors as a range: "0-3,6"."""
    parts = []
    for member in members:
        if parts and parts[-1][1] == member - 1:
            parts[-1][1] = member
        else:
            parts.append([member, member])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)

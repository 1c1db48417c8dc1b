"""Watches which parts of tensors that are spread over processes a program writes to files.

A tensor is cut along the dimensions of a mesh of processes that shard it; those that replicate it hold
equal parts, of which one is enough.
"""

import os

from ..torch_api.tensors import is_shard
from .groups import PEERS

MOST_DEPTH, MOST_ENTRIES = 4, 4096


class SavedShards:
    def __init__(self, guard, recorder, groups):
        self.recorder, self.groups = recorder, groups
        self.saved = guard.isolated("file")(self.saved)

    def subscribe(self, moments):
        moments.saved.append(self.saved)

    def saved(self, path, content):
        if self.groups.size() == 1 or not path:
            return
        parts = {part_of(tensor) for tensor in shards_in(content, 0)} - {None}
        if parts and os.environ.get("LOCAL_WORLD_SIZE") == os.environ.get("WORLD_SIZE", ""):
            self.recorder.attribute(0, "one_machine", 1)
        for members, part, count in sorted(parts):
            file = self.recorder.thing("file", 0, os.path.abspath(path))
            owner = self.groups.thing(PEERS, members)
            self.recorder.quantity("saved_shards", file, float(part), float(count), owner=owner)


def shards_in(value, depth):
    """Tensors spread over processes, in nested dictionaries and lists."""
    if is_shard(value):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if depth > MOST_DEPTH or not isinstance(value, (list, tuple)):
        return []
    return [tensor for part in value[:MOST_ENTRIES] for tensor in shards_in(part, depth + 1)]


def part_of(tensor):
    """(members of the mesh, number of the part that is held here, number of parts); None if it is
    whole here."""
    mesh, number, count = tensor.device_mesh, 0, 1
    place = mesh.get_coordinate()
    if place is None:
        return None
    for dimension, placement in enumerate(tensor.placements):
        if not (placement.is_replicate() or placement.is_partial()):  # _StridedShard says it is no shard
            number = number * mesh.size(dimension) + place[dimension]
            count *= mesh.size(dimension)
    return (tuple(sorted(mesh.mesh.flatten().tolist())), number, count) if count > 1 else None

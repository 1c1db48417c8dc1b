"""Which processes hold copies of one piece of a tensor that is spread over a mesh of processes.

Dimensions of the mesh that replicate a tensor hold it several times; along all others each place has
a piece of its own, whichever way the tensor is cut.
"""


def holders(tensor):
    """The numbers of the processes that hold the piece that this one does, ascending; empty where it
    holds none, or a summand."""
    mesh, placements = tensor.device_mesh, tensor.placements
    place = mesh.get_coordinate()
    if place is None or any(placement.is_partial() for placement in placements):
        return ()
    alike = tuple(slice(None) if placement.is_replicate() else at
                  for placement, at in zip(placements, place))  # fmt: skip
    return tuple(sorted(mesh.mesh[alike].flatten().tolist()))

"""Finds units of an activation that let no gradient through for any row of a batch, by what its node keeps for
its backward: a ReLU that gives zero, a tanh or sigmoid at its limits.
"""

from ..torch_api import private, tensors
from .chains import LINEAR, layer_before
from .loss_graph import SavedTensors

FEWEST_ROWS, LEAST_SHARE = 32, 0.5
FEWEST_UNITS = 8  # of a tanh or sigmoid: an output of few classes may be sure of all its rows
NEAR_LIMIT = 0.005  # of the way from one limit to the other
NORMS = {"NativeBatchNormBackward0", "CudnnBatchNormBackward0", "NativeLayerNormBackward0"}


def zero_units(node):
    """(share of the units without a value above zero, their number); None of a node that is no ReLU, or where
    the axis of the units or enough rows are missing."""
    if node.name() != "ReluBackward0":
        return None
    return share_of_units(node, lambda result: result <= 0)


def saturated_units(node):
    """(share of the units that are near a limit of a tanh or sigmoid for each row, their number); None of other
    nodes."""
    if node.name() not in ("TanhBackward0", "SigmoidBackward0"):
        return None
    least, most = (-1, 1) if node.name() == "TanhBackward0" else (0, 1)
    margin = NEAR_LIMIT * (most - least)
    found = share_of_units(node, lambda result: (result < least + margin) | (result > most - margin))
    return found if found is not None and found[1] >= FEWEST_UNITS else None


def share_of_units(node, is_idle):
    before = node.next_functions[0][0]
    if SavedTensors.packed or before is None:
        return None
    layer, _ = layer_before(before, LINEAR | NORMS)
    result = private.saved(node, "result") if layer is not None else None
    if not tensors.is_plain(result) or result.dim() < 2:
        return None
    axis = 1 if layer.name() == "ConvolutionBackward0" else result.dim() - 1
    units = result.shape[axis]
    if units == 0 or result.numel() // units < FEWEST_ROWS:
        return None
    with tensors.unrecorded():
        idle = is_idle(result.detach()).movedim(axis, -1).reshape(-1, units)
        share = idle.all(0).double().mean().item()
    return (share, units) if share >= LEAST_SHARE else None

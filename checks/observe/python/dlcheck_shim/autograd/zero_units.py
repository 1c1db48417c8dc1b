"""Finds units of a ReLU that give zero for every row of a batch, by what its node keeps for its backward."""

import torch

from ..torch_api import private, tensors
from .chains import LINEAR, layer_before
from .loss_graph import SavedTensors

FEWEST_ROWS, LEAST_SHARE = 32, 0.5
NORMS = {"NativeBatchNormBackward0", "CudnnBatchNormBackward0", "NativeLayerNormBackward0"}


def zero_units(node):
    """(share of the units without a value above zero, their number); None of a node that is no ReLU, or where
    the axis of the units or enough rows are missing."""
    if node.name() != "ReluBackward0" or SavedTensors.packed:
        return None
    before = node.next_functions[0][0]
    layer, _ = layer_before(before, LINEAR | NORMS)
    result = private.saved(node, "result") if layer is not None else None
    if not tensors.is_plain(result) or result.dim() < 2:
        return None
    axis = 1 if layer.name() == "ConvolutionBackward0" else result.dim() - 1
    units = result.shape[axis]
    if units == 0 or result.numel() // units < FEWEST_ROWS:
        return None
    with tensors.unrecorded():
        others = [n for n in range(result.dim()) if n != axis]
        largest = torch.amax(result.detach(), dim=others)
        share = largest.le(0).double().mean().item()
    return (share, units) if share >= LEAST_SHARE else None

"""Finds attention weights that a mask was meant to make zero, and did not: of a softmax behind masked_fill(), by
the mask that its node keeps.
"""

import torch

from ..torch_api import private, tensors
from ..torch_api.on_host import on_host
from .loss_graph import SavedTensors, only_input
from .rearranged import LONGEST_CHAIN, RESHAPING

BETWEEN = {*RESHAPING, "ToCopyBackward0", "CloneBackward0", "AddBackward0", "MulBackward0", "DivBackward0"}
FILLS = ("MaskedFillBackward0", "MaskedFillBackward1")


def weight_behind_mask(node):
    """(largest attention weight at a masked position, number of such positions) of a softmax along its last axis
    whose scores were masked; None of any other node. Rows that are masked as a whole do not count."""
    if node.name() != "SoftmaxBackward0" or SavedTensors.packed:
        return None
    mask = mask_before(only_input(node))
    weights = on_host(private.saved(node, "result"))
    if mask is None or not tensors.is_plain(weights) or not weights.is_cpu or not weights.is_floating_point():
        return None
    if private.saved(node, "dim") not in (weights.dim() - 1, (1 << 64) - 1):
        return None
    with tensors.unrecorded():
        try:
            hidden = mask.broadcast_to(weights.shape)
        except RuntimeError:
            return None  # reshaped in between
        counted = hidden & ~hidden.all(-1, keepdim=True)
        if not bool(counted.any()):
            return None
        return float(torch.where(counted, weights.detach(), 0).amax()), int(counted.sum())


def mask_before(node):
    """The mask of the last masked_fill() before a softmax, which is True where something was filled in."""
    for _ in range(LONGEST_CHAIN):
        if node is None:
            return None
        if node.name() in FILLS:
            mask = on_host(private.saved(node, "mask"))
            usable = tensors.is_plain(mask) and mask.is_cpu and mask.dtype is torch.bool
            return mask.detach() if usable else None
        if node.name() not in BETWEEN:
            return None
        node = only_input(node)
    return None

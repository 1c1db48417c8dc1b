"""Finds layers whose bias a batch normalization subtracts again with the mean."""

from ..torch_api import private
from .chains import is_leaf
from .loss_graph import only_input
from .rearranged import LONGEST_CHAIN, RESHAPING

CONVERTED = "ToCopyBackward0"  # by autocast
NORMS = ("NativeBatchNormBackward0", "CudnnBatchNormBackward0")
BIASES = {"AddmmBackward0": 0, "ConvolutionBackward0": 2}  # which of the nodes before it is that of its bias


def bias_before_norm(node):
    """Whether this is a batch normalization in training mode of what a layer with a trained bias gave."""
    if node.name() not in NORMS or not private.saved(node, "training", True) or not node.next_functions:
        return False
    layer = node.next_functions[0][0]
    for _ in range(LONGEST_CHAIN):
        if layer is None or layer.name() not in (*RESHAPING, CONVERTED):
            break
        layer = layer.next_functions[0][0]
    place = BIASES.get(layer.name()) if layer is not None else None
    if place is None or len(layer.next_functions) <= place:
        return False
    bias = layer.next_functions[place][0]
    if bias is not None and bias.name() == CONVERTED:
        bias = only_input(bias)
    return bias is not None and is_leaf(bias)

"""Reads from the autograd graph which operation takes the result of which: two linear layers with nothing
nonlinear between them, an activation of an activation, scores of attention that are not scaled.
"""

import torch

from ..torch_api import private, tensors
from ..torch_api.attributes import attribute
from .loss_graph import SavedTensors, factor_of, only_input
from .rearranged import LONGEST_CHAIN, RESHAPING, shape_of

# Which of the nodes before a layer's is that of its input, and of its weight.
LAYERS = {"AddmmBackward0": (1, 2), "MmBackward0": (0, 1), "ConvolutionBackward0": (0, 1)}
SHAPING = {*RESHAPING, "SqueezeBackward0", "SqueezeBackward1", "SqueezeBackward2", "UnsqueezeBackward0",
           "ToCopyBackward0", "CloneBackward0", "AliasBackward0"}  # fmt: skip
# With one input that has a graph, each of these is linear in it: a shift, a scale, a mask of dropout.
LINEAR = {*SHAPING, "NativeDropoutBackward0", "MulBackward0", "DivBackward0", "AddBackward0", "SubBackward0"}
# Nodes that move axes or cut pieces out.
CUTTING = {*SHAPING, "TransposeBackward0", "PermuteBackward0", "ExpandBackward0", "SliceBackward0",
           "SelectBackward0", "SplitBackward0", "SplitWithSizesBackward0", "UnbindBackward0", "ChunkBackward0"}  # fmt: skip
ACTIVATIONS = {"ReluBackward0": "relu", "SigmoidBackward0": "sigmoid", "TanhBackward0": "tanh",
               "SoftmaxBackward0": "softmax"}  # fmt: skip
FEWEST_FEATURES = 8  # of a query: with fewer, scores need no scale


def is_leaf(node):
    """Whether a node gathers the gradient of a tensor of the program, as of a parameter."""
    return node.name().endswith("AccumulateGrad")


def weight_of(layer):
    """The trained weight of a layer's node; None if it is not one."""
    place = LAYERS.get(layer.name())
    node = layer.next_functions[place[1]][0] if place else None
    for _ in range(3):  # transposed, and converted by autocast
        if node is None or is_leaf(node):
            return node and attribute(node, "variable")
        if node.name() not in ("TBackward0", "ToCopyBackward0"):
            return None
        node = only_input(node)
    return None


def layer_before(node, between):
    """The layer whose result reaches `node` through nothing but nodes of these names; None if there is none.
    The last item is the nodes on the way, the layer's own among them."""
    passed = []
    for _ in range(LONGEST_CHAIN):
        if node is None:
            return None, passed
        passed.append(node)
        if node.name() in LAYERS:
            return node, passed
        inputs = [n for n, _ in node.next_functions if n is not None and not is_leaf(n)]
        if node.name() not in between or len(inputs) != 1 or multiplies_by_data(node):
            return None, passed
        node = inputs[0]
    return None, passed


def multiplies_by_data(node):
    """Whether a product has a factor of many values: the mask of dropout has zero and one other."""
    if node.name() not in ("MulBackward0", "DivBackward0"):
        return False
    other = None if SavedTensors.packed else private.saved(node, "other")
    if not isinstance(other, torch.Tensor) or other.numel() <= 1:
        return SavedTensors.packed
    return not tensors.is_plain(other) or not bool(((other == 0) | (other == other.max())).all())


def linear_pair(node, users):
    """(sizes of both, features between them, the smaller of the outer sizes, the node of the first) of a layer
    `node` that takes what another gives, and nobody else takes; None of any other node. `users`: by node, those that take its result.

    A pair that leads through fewer features than it begins and ends with is a factorization, made on purpose."""
    second = weight_of(node) if node.name() in LAYERS else None
    if second is None:
        return None
    layer, passed = layer_before(node.next_functions[LAYERS[node.name()][0]][0], LINEAR)
    first = weight_of(layer) if layer is not None else None
    if first is None or first is second or not are_alike(layer, node, first, second):
        return None
    if any(len(users.get(on_the_way, ())) > 1 for on_the_way in passed):
        return None
    before, between, after = first.shape[1], first.shape[0], second.shape[0]
    if between < min(before, after):
        return None
    return f"{before} to {between} to {after}", between, min(before, after), layer


def are_alike(layer, node, first, second):
    """Whether two layers could be one: both full products, or both convolutions of one kernel size. A kernel
    of size 1, and one along a single axis, has a part in a factorization."""
    if first.dim() != second.dim() or first.shape[0] != second.shape[1]:
        return False
    if first.dim() == 2:
        return layer.name() != "ConvolutionBackward0" and node.name() != "ConvolutionBackward0"
    plain = all(private.saved(n, "groups", 0) == 1 and not private.saved(n, "transposed", True) for n in (layer, node))
    return plain and first.shape[2:] == second.shape[2:] and len(set(first.shape[2:])) == 1 and first.shape[2] > 1


def repeated_activation(node):
    """"relu" for an activation of what the same function gave; None of any other node."""
    name = node.name()
    if name not in ACTIVATIONS:
        return None
    before = only_input(node)
    for _ in range(LONGEST_CHAIN):
        if before is None or before.name() not in SHAPING:
            break
        before = only_input(before)
    return ACTIVATIONS[name] if before is not None and before.name() == name else None


def unscaled_attention(node):
    """How many features the queries have whose products with the keys this softmax takes, where neither the
    products nor queries and keys are multiplied by a number; None of any other node."""
    if node.name() != "SoftmaxBackward0":
        return None
    products = product_before(only_input(node))
    if products is None or any(not is_plain(side) for side, _ in products.next_functions):
        return None
    shape = shape_of(products.next_functions[0][0])
    return shape[-1] if shape is not None and shape[-1] >= FEWEST_FEATURES else None


def product_before(node):
    """The batched product that scores come from, if a mask at most was put on them."""
    for _ in range(LONGEST_CHAIN):
        if node is None or node.name() == "BmmBackward0":
            return node
        masks = ("MaskedFillBackward0", "MaskedFillBackward1", "WhereBackward0", "AddBackward0")
        scales = node.name() in ("MulBackward0", "DivBackward0") and factor_of(node) == 1.0
        if node.name() not in (*masks, *SHAPING) and not scales:
            return None
        node = only_input(node)
    return None


def is_plain(side):
    """Whether one side of a product is what a linear layer gave, cut into heads and nothing else. Attention over
    the places of a picture, whose queries convolutions make, has no scale by design."""
    layer = layer_before(side, CUTTING)[0] if side is not None else None
    return layer is not None and layer.name() != "ConvolutionBackward0"

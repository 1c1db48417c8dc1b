"""Reads from the autograd graph what a program did with the axes of its tensors: a view or reshape in the
place of a transpose, and a softmax along the wrong axis. Only shapes and the options of
operations are read, and no number.
"""

from ..torch_api import private
from .loss_graph import only_input

RESHAPING = ("ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0")
TRANSPOSES = ("TransposeBackward0", "PermuteBackward0")
# Nodes that keep the axes of what they are given in their places.
KEEPING = {
    "ExpandBackward0", "CloneBackward0", "ToCopyBackward0", "NativeDropoutBackward0", "MulBackward0", "DivBackward0",
    "AddBackward0", "SubBackward0", "MaskedFillBackward0", "MaskedFillBackward1", "WhereBackward0",
}  # fmt: skip
SOFTMAXES = ("SoftmaxBackward0", "LogSoftmaxBackward0")
LOGARITHMS = {"LogBackward0", "ClampBackward1", "ClampMinBackward0"}  # between a softmax and a loss of logarithms
LONGEST_CHAIN = 16


def swapped_sizes(node, user):
    """"8x10x32 to 8x32x10" for a view or reshape that gives an axis a new place without moving its numbers;
    None for any other node. `user` is the node that takes the result.

    The shift of relative positions is one on purpose: it reshapes, slices and may reshape again."""
    if node.name() not in RESHAPING:
        return None
    before, after = private.saved(node, "self_sym_sizes"), shape_of(node)
    given = only_input(node)
    if before is None or after is None or is_slice(user) or is_slice(given):
        return None
    if given is not None and given.name() == "CloneBackward0":  # contiguous()
        given = only_input(given)
    if regroups(before, after) and (is_transpose(user) or is_transpose(given)):
        return None
    return sizes_swapped(before, after)


def sizes_swapped(before, after):
    """The same by the two shapes; None where no axis has a new place."""
    return f"{'x'.join(map(str, before))} to {'x'.join(map(str, after))}" if swaps(before, after) else None


def regroups(before, after):
    """Whether the last axis may have been cut, and its larger part joined to the one before, as (time, batch, features)
    becomes (time, batch times heads, features of a head), or the other way round. Where the batch is as large as the
    last part, its sizes are those of a swap."""
    pairs = [(old, new) for old, new in runs(*map(without_ones, (before, after))) if mixes(old, new)]
    return all(len(old) == len(new) == 2 and (old[1] % new[1] == 0 or new[1] % old[1] == 0) for old, new in pairs)


def without_ones(sizes):
    return [size for size in sizes if size != 1]


def is_transpose(node):
    return node is not None and node.name() in TRANSPOSES


def is_slice(node):
    return node is not None and node.name() == "SliceBackward0"


def swaps(before, after):
    """Whether one of the sizes stands at a place where its axis cannot be: both shapes are cut into the
    smallest runs of equal product, within which numbers mix."""
    return any(mixes(old, new) for old, new in runs(without_ones(before), without_ones(after)))


def mixes(old, new):
    return len(old) > 1 and len(new) > 1 and any(size in new for size in old)


def runs(before, after):
    """Pairs of the sizes of `before` and `after` with equal products, each as short as can be."""
    found, old, new, products = [], [], [], [1, 1]
    before, after = list(before), list(after)
    while before or after:
        if products[0] <= products[1] and before or not after:
            old.append(before.pop(0))
            products[0] *= old[-1]
        else:
            new.append(after.pop(0))
            products[1] *= new[-1]
        if products[0] == products[1]:
            found.append((old, new))
            old, new, products = [], [], [1, 1]
    return found


def misdirected_softmax(node):
    """The axis, counted from the end, along which attention weights are normalized although the product with
    the values, which `node` is, sums over another; None where both are the same, or it is no attention."""
    if node.name() != "BmmBackward0" or not node.next_functions:
        return None
    axis, weights = -1, node.next_functions[0][0]
    for _ in range(LONGEST_CHAIN):
        if weights is None:
            return None
        if weights.name() == "SoftmaxBackward0":
            return normalized(weights, axis)
        axis = before_of(weights, axis)
        if axis is None:
            return None
        weights = only_input(weights)
    return None


def normalized(node, summed):
    """The axis of a softmax node; None if it is the one that is `summed`, or its scores are no product of
    two tensors that are trained."""
    shape = shape_of(node)
    if shape is None or len(shape) < 3:
        return None
    axis = signed(private.saved(node, "dim"), len(shape))
    if axis == summed or shape[axis] < 2:
        return None
    return axis if is_product(node) else None


def softmax_over_rows(node):
    """How many rows a softmax or its logarithm lets compete, of a node along the first axis; None for any other.
    One score a row is attention over them, and as many scores as rows are those of pairs."""
    shape = shape_of(node)
    if node.name() not in SOFTMAXES or shape is None or len(shape) < 2:
        return None
    rows, others = shape[0], shape[1:]
    if signed(private.saved(node, "dim"), len(shape)) != -len(shape) or rows < 2 or max(others) < 2:
        return None
    return None if rows in others else rows


def misplaced_classes(scores):
    """The axis, from 0, along which a softmax made the log-probabilities `scores`, of three axes or more, if that is
    not the one on which nll_loss takes classes; None if it is, or not known."""
    node, axis = scores.grad_fn, 1 - scores.dim()
    for _ in range(LONGEST_CHAIN):
        if node is None or axis is None or scores.dim() < 3:
            return None
        if node.name() in SOFTMAXES:
            shape = shape_of(node)
            own = None if shape is None else signed(private.saved(node, "dim"), len(shape))
            return None if own in (None, axis) else len(shape) + own
        if node.name() not in LOGARITHMS:
            axis = before_of(node, axis)
        node = only_input(node)
    return None


def is_product(node):
    for _ in range(LONGEST_CHAIN):
        before = [n for n, _ in node.next_functions if n is not None]
        if not before:
            return False
        node = before[0]
        if node.name() == "BmmBackward0":
            return len([n for n, _ in node.next_functions if n is not None]) == 2
        if node.name() not in KEEPING and node.name() not in RESHAPING:
            return False
    return False


def before_of(node, axis):
    """Where an axis of the result of `node` is in what it was given; None if that is not known. Axes are
    counted from the end."""
    name, shape = node.name(), shape_of(node)
    if shape is None:
        return None
    if name in ("TransposeBackward0", "TBackward0"):
        pair = (-1, -2)
        if name == "TransposeBackward0":
            pair = [signed(private.saved(node, key), len(shape)) for key in ("dim0", "dim1")]
        return {pair[0]: pair[1], pair[1]: pair[0]}.get(axis, axis)
    if name == "PermuteBackward0":
        return signed(private.saved(node, "dims")[axis], len(shape))
    if name in RESHAPING:
        return axis if tuple(private.saved(node, "self_sym_sizes") or ())[-2:] == shape[-2:] else None
    return axis if name in KEEPING and only_input(node) is not None else None


def signed(axis, dimensions):
    """An axis that a node keeps without its sign, counted from the end."""
    axis = axis - (1 << 64) if axis >= 1 << 63 else axis
    return axis if axis < 0 else axis - dimensions


def shape_of(node):
    """Of what a node gives first; None in a version that does not say."""
    shapes = private.shapes_into(node)
    return shapes[0] if shapes else None

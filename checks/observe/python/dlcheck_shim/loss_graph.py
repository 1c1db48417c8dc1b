"""Reads the autograd graph between a loss function and what a backward starts from, before it runs:
by which numbers the loss was multiplied, what made the numbers given to it, and whether it compares
every output with every target.

Nodes are marked through their own `metadata`, which lives and dies with them; nothing is kept
alive.
"""

import torch

from .wrapping import replace

LOSS, SCALE, LIFE = "dlcheck loss", "dlcheck scale", "dlcheck life"
LONGEST_CHAIN = 16

# Nodes that only arrange or convert what they are given.
ARRANGING = {
    "ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0", "TransposeBackward0",
    "PermuteBackward0", "SqueezeBackward0", "SqueezeBackward1", "SqueezeBackward2",
    "UnsqueezeBackward0", "ToCopyBackward0", "CloneBackward0", "SliceBackward0", "AliasBackward0",
    "TBackward0", "SelectBackward0", "ExpandBackward0", "AsStridedBackward0",
}  # fmt: skip
# Nodes that turn numbers into others of their own meaning.
MAKERS = {
    "SoftmaxBackward0": "softmax",
    "LogSoftmaxBackward0": "log_softmax",
    "SigmoidBackward0": "sigmoid",
}
# Nodes that take the error of one number apart from all others, or average such errors.
ERRORS = {"PowBackward0", "AbsBackward0", "SqrtBackward0", "MeanBackward0", "SumBackward0",
          "MeanBackward1", "SumBackward1", "NegBackward0", "MulBackward0", "DivBackward0"}  # fmt: skip


class Life:
    """Dies with the node that holds it."""

    __slots__ = ("__weakref__",)


class SavedTensors:
    """Whether the program ever asked to pack what graphs save: to read that would unpack it once more
    than the program expects."""

    packed = False


def watch_packing():
    def entering(original):
        def enter(*args, **kwargs):
            SavedTensors.packed = True
            return original(*args, **kwargs)

        return enter

    replace([torch.autograd.graph.saved_tensors_hooks], "__enter__", entering)


def mark(node, key, value):
    if node is not None:
        node.metadata[key] = value


def mark_of(node, key):
    return node.metadata.get(key)


def only_input(node):
    """The one node before this one; None where there are several or none."""
    before = [n for n, _ in node.next_functions if n is not None]
    return before[0] if len(before) == 1 else None


def factor_of(node):
    """What a node multiplies a lone number with; None if it does anything else."""
    name = node.name()
    if name in ARRANGING:
        return 1.0
    if name not in ("MulBackward0", "DivBackward0") or SavedTensors.packed:
        return None
    other = getattr(node, "_saved_other", None)
    if other is None:
        return None
    if isinstance(other, torch.Tensor):
        if other.numel() != 1 or other.requires_grad or not other.is_cpu:
            return None
        other = other.item()
    if name == "MulBackward0":
        return float(other)
    return 1.0 / float(other) if other else None


def loss_behind(loss):
    """The mark of the loss function that `loss` comes from and the factor between them, without
    that of a loss scaler; None where more than numbers lies between."""
    node, factor = loss.grad_fn, 1.0
    for _ in range(LONGEST_CHAIN):
        if node is None:
            return None
        found = mark_of(node, LOSS)
        if found is not None:
            return found, factor
        step = 1.0 if mark_of(node, SCALE) else factor_of(node)
        if step is None:
            return None
        factor *= step
        node = only_input(node)
    return None


def maker_of(tensor):
    """"softmax", "log_softmax" or "sigmoid" if that made the numbers of `tensor`, else ""."""
    node = tensor.grad_fn
    for _ in range(LONGEST_CHAIN):
        if node is None:
            return ""
        name = node.name()
        if name in MAKERS:
            return MAKERS[name]
        if name not in ARRANGING:
            return ""
        node = only_input(node)
    return ""


def spread_comparison(loss):
    """"64x1 and 64" if `loss`, or a term of the sum that it is, averages the difference of each of 64
    outputs with each of 64 targets, else None. A term must be a lone chain of errors down to the
    difference; where terms are subtracted, as in an energy distance, all pairs may be meant."""
    waiting = [loss.grad_fn]
    for _ in range(LONGEST_CHAIN):
        node = waiting.pop() if waiting else None
        if node is None:
            return None
        name = node.name()
        if name == "AddBackward0":
            waiting += [n for n, _ in node.next_functions if n is not None]
        elif name in ("SubBackward0", "RsubBackward0"):
            found = spread_difference(node)
            if found:
                return found
        elif name in ERRORS:
            before = only_input(node)
            waiting += [before] if before is not None else []
    return None


def spread_difference(node):
    operand = only_input(node)
    if operand is None or not hasattr(node, "_input_metadata"):
        return None
    # A leaf accumulates gradients of its own shape; its node says nothing of it here.
    place = next(place for before, place in node.next_functions if before is operand)
    shape, given = shape_into(node, 0), shape_into(operand, place)
    if shape is None or given is None or len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
        return None
    size = shape[0]
    if given not in ((size, 1), (size,), (1, size)):
        return None
    other = {(size, 1): f"{size}", (size,): f"{size}x1", (1, size): f"{size}x1"}[given]
    return f"{'x'.join(map(str, given))} and {other}"


def shape_into(node, place):
    metadata = node._input_metadata
    return tuple(metadata[place].shape) if place < len(metadata) else None

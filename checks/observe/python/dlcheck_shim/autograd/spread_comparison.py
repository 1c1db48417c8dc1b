"""Finds a loss worked out by hand that compares every output with every target, by the shapes in its graph."""

import torch

from ..torch_api import private
from .chains import is_leaf
from .loss_graph import ERRORS, LONGEST_CHAIN, MOST_BEHIND, SavedTensors, only_input, shape_into


def spread_comparison(loss):
    """"64x1 and 64" if `loss`, or a term of the sum that it is, averages the difference of each of 64
    outputs with each of 64 targets, else None. A term must be a lone chain of errors down to the
    difference; where terms of all pairs are subtracted from each other, as in an energy distance, they are meant,
    and so is one that is subtracted itself, as it drives apart."""
    waiting = [(loss.grad_fn, False, 1)]  # a node, whether terms are subtracted after it, and its own sign
    spreads, pairs = [], 0
    for _ in range(MOST_BEHIND):
        node, subtracted, sign = waiting.pop() if waiting else (None, False, 1)
        if node is None:
            break
        name, found = node.name(), None
        if name == "AddBackward0" or name == "SubBackward0" and shape_into(node, 0) == ():
            own = (1, -1) if name == "SubBackward0" else (1, 1)
            waiting += [(n, subtracted or name == "SubBackward0", sign * by)
                        for (n, _), by in zip(node.next_functions, own) if n is not None]  # fmt: skip
        elif name in ("SubBackward0", "RsubBackward0"):
            found, pairs = spread_difference(node), pairs + is_of_pairs(node)
        elif name in ERRORS:
            found, before = spread_product(node), only_input(node) or without_learned_number(node)
            waiting += [(before, subtracted, sign)] if before is not None else []
        if found and sign > 0:
            spreads.append((found, subtracted))
    return next((found for found, subtracted in spreads if not subtracted or pairs < 2), None)


def is_of_pairs(node):
    """Whether a difference is one of each of several rows with each of as many."""
    shape = shape_into(node, 0)
    return shape is not None and len(shape) > 1 and shape[0] == shape[1] > 1


def without_learned_number(node):
    """Of a loss times or by a number that is learned, as a weight between tasks, the node of the loss; None of any other
    node."""
    before = [n for n, _ in node.next_functions if n is not None]
    if node.name() not in ("MulBackward0", "DivBackward0") or len(before) != 2 or shape_into(node, 0) != ():
        return None
    learned = [ends_in_leaf(n) for n in before]
    if learned[1] and not learned[0]:
        return before[0]
    return before[1] if learned == [True, False] and node.name() == "MulBackward0" else None


def ends_in_leaf(node):
    """Whether nothing but one tensor that gradients are gathered for, and functions of it alone, made a number."""
    for _ in range(LONGEST_CHAIN):
        if node is None or is_leaf(node):
            return node is not None
        node = only_input(node)
    return False


def spread_product(node):
    """Like spread_difference, where errors of all samples are multiplied by numbers without a gradient."""
    if node.name() not in ("MulBackward0", "DivBackward0") or SavedTensors.packed:
        return None
    factors = [private.saved(node, name) for name in ("other", "self")]
    other = next((f for f in factors if isinstance(f, torch.Tensor) and not f.requires_grad), None)
    found = None if other is None else spread_difference(node)
    return found if found and found.endswith(f" and {'x'.join(map(str, other.shape))}") else None


def spread_difference(node):
    operand = only_input(node)
    if operand is None:
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

"""Whether a loss that was worked out by hand is an error with a minus before it: the mean of squared or absolute
differences, subtracted. Each step then raises the error.

The graph of the loss is followed from its end to the differences, and given up at the first node whose sign is not
known.
"""

import torch

from ..torch_api import private
from ..torch_api.on_host import on_host
from .loss_graph import ARRANGING, SavedTensors, factor_of, mark_of

MOST_NODES = 64
MOST_ENTRIES = 1 << 16  # of a mask, which is looked at
AVERAGING = {"MeanBackward0", "MeanBackward1", "SumBackward0", "SumBackward1"}
ERRORS = {"MseLossBackward0", "L1LossBackward0", "SmoothL1LossBackward0", "HuberLossBackward0"}
DIFFERENCES = {"SubBackward0", "RsubBackward0", "RsubBackward1", *ERRORS}


def is_raised_error(loss):
    """True if all that is added up in it are errors with a minus. False where the program packs what graphs save."""
    if SavedTensors.packed:
        return False
    waiting, seen, found = [(loss.grad_fn, 1)], 0, 0
    while waiting:
        node, sign = waiting.pop()
        seen += 1
        if seen > MOST_NODES:
            return False
        if is_error(node):
            if sign > 0:
                return False
            found += 1
            continue
        passed = signs_into(node)
        if passed is None:
            return False
        waiting += [(before, sign * own) for before, own in passed]
    return found > 0


def is_error(node):
    """A square or absolute value of a difference, in a way that says so."""
    if node.name() in ERRORS:
        return True
    is_square = node.name() == "PowBackward0" and private.saved(node, "exponent") == 2
    if not is_square and node.name() != "AbsBackward0":
        return False
    before = the_one_before(node)
    while before is not None and before.name() in ARRANGING:
        before = the_one_before(before)
    return before is not None and before.name() in DIFFERENCES


def signs_into(node):
    """Pairs of a node before this one and the sign that it is taken with; None where that is not known."""
    name = node.name()
    before = [n for n, _ in node.next_functions]
    if mark_of(node, "dlcheck loss") is not None:
        return None
    if name in ("AddBackward0", "SubBackward0"):
        signs = (1, -1 if name == "SubBackward0" else 1)
        return [(n, sign) for n, sign in zip(before, signs) if n is not None]
    if len([n for n in before if n is not None]) != 1:
        return None
    only = the_one_before(node)
    if name in AVERAGING or name in ARRANGING:
        return [(only, 1)]
    factor = -1 if name.startswith("RsubBackward") else factor_of(node)
    if factor is None and name in ("MulBackward0", "DivBackward0"):
        factor = 1 if is_mask(private.saved(node, "other")) else None
    return None if not factor else [(only, 1 if factor > 0 else -1)]


def is_mask(other):
    """Numbers that do not depend on weights, none of them below zero."""
    if not isinstance(other, torch.Tensor) or other.requires_grad or not 0 < other.numel() <= MOST_ENTRIES:
        return False
    other = on_host(other)
    return other.is_cpu and bool((other.detach() >= 0).all())


def the_one_before(node):
    before = [n for n, _ in node.next_functions if n is not None]
    return before[0] if len(before) == 1 else None

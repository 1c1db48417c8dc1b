"""Finds learned weights of a loss that nothing keeps from zero: the exponential of a parameter multiplies terms of the
loss, and the parameter is used nowhere else. With uncertainties as weights, their logarithm has to be added.
"""

import math

from .chains import is_leaf
from .loss_graph import ARRANGING, factor_of
from .rearranged import shape_of

POSITIVE = {"ExpBackward0", "SoftplusBackward0", "SigmoidBackward0"}
PASSING = ARRANGING | POSITIVE | {"NegBackward0", "PowBackward0", "ReciprocalBackward0", "UnbindBackward0"}
MOST_NUMBERS, MOST_NODES = 16, 64


def unlimited_weight(node, users):
    """How many numbers such a parameter has, of the node that gathers its gradient; None of any other node."""
    if not is_leaf(node) or getattr(node, "variable", None) is None or node.variable.numel() > MOST_NUMBERS:
        return None
    waiting, seen, positive, products = [node], 0, False, 0
    while waiting:
        for user in users.get(waiting.pop(), ()):
            seen += 1
            given = sum(before is not None for before, _ in user.next_functions)
            if given == 1 and (user.name() in PASSING or factor_of(user) is not None):
                positive = positive or user.name() in POSITIVE
                waiting.append(user)
            elif given == 2 and user.name() in ("MulBackward0", "DivBackward0") and is_small(user):
                products += 1
            else:
                return None
            if seen > MOST_NODES:
                return None
    return node.variable.numel() if positive and products else None


def is_small(node):
    """Whether a node gives one number, or one a term: of a batch there are more."""
    shape = shape_of(node)
    return shape is not None and math.prod(shape) <= MOST_NUMBERS

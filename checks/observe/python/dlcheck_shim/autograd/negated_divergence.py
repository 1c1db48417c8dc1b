"""Finds a divergence from a normal distribution that is subtracted from a loss: exp(v) with a minus beside v with a
plus falls without limit as v grows.
"""

from .loss_graph import SavedTensors
from .raised_errors import signs_into

MOST_NODES = 64
SUMS = {"AddBackward0": (1, 1), "SubBackward0": (1, -1)}


def subtracts_divergence(loss):
    if SavedTensors.packed or loss.grad_fn is None:
        return False
    signs = signs_of_terms((loss.grad_fn, 0))
    powers = [edge for edge, sign in signs.items() if sign < 0 and edge[0].name() == "ExpBackward0"]
    return any(signs.get(edge[0].next_functions[0], 0) > 0 for edge in powers)


def signs_of_terms(loss):
    """By edge (node, which of its results): the sign with which it goes into a sum that ends in the loss. What is
    behind a node of another kind is left out."""
    waiting, signs = [(loss, 1)], {}
    while waiting and len(signs) < MOST_NODES:
        edge, sign = waiting.pop()
        if edge[0] is None or edge in signs:
            continue
        signs[edge] = sign
        waiting += [(before, sign * own) for before, own in edges_into(edge[0])]
    return signs


def edges_into(node):
    if node.name() in SUMS:
        return zip(node.next_functions, SUMS[node.name()])
    passed = signs_into(node) or ()
    edges = [edge for edge in node.next_functions if edge[0] is not None]
    return [(edge, sign) for edge, (_, sign) in zip(edges, passed)]

"""Follows gradients by inputs, which torch.autograd.grad gave with a graph, to their norm: a penalty is a norm for each
sample, and not one over the batch.
"""

from .loss_graph import ARRANGING, mark, mark_of, only_input
from .rearranged import LONGEST_CHAIN, shape_of

GRADIENT = "dlcheck gradient by inputs"
NORMS = ("LinalgVectorNormBackward0", "NormBackward0", "NormBackward1", "NormBackward2", "NormBackward3", "NormBackward4")


def mark_gradient(gradient):
    mark(gradient.grad_fn, GRADIENT, gradient.shape[0] if gradient.dim() > 1 else 0)


def norm_over_batch(node):
    """How many samples one norm is taken over; None of a node that is no such norm."""
    if node.name() not in NORMS or shape_of(node) != ():
        return None
    before = only_input(node)
    for _ in range(LONGEST_CHAIN):
        if before is None:
            return None
        samples = mark_of(before, GRADIENT)
        if samples is not None:
            return samples if samples > 1 else None
        if before.name() not in ARRANGING:
            return None
        before = only_input(before)
    return None

"""The gradient of a step: what its last backward left, before anything clips or unscales it."""

import torch

from ...torch_api import tensors


class Gradient:
    """Copies of the gradients of some parameters; none for one without."""

    def __init__(self, parameters):
        with tensors.unrecorded():
            self.parts = [None if p.grad is None else dense(p.grad.detach()).clone() for p in parameters]

    def equals(self, other):
        if [part is None for part in self.parts] != [part is None for part in other.parts]:
            return False
        return all(torch.equal(a, b) for a, b in zip(self.parts, other.parts) if a is not None)

    def is_finite(self):
        return all(bool(part.isfinite().all()) for part in self.parts if part is not None)

    def norm(self):
        return combined([(1.0, self)])


def dense(gradient):
    return gradient.to_dense() if gradient.is_sparse else gradient


def combined(terms):
    """The norm of a sum of gradients; `terms` are (factor, gradient). In double precision, as near
    gradients are taken from each other."""
    total = 0.0
    with tensors.unrecorded():
        for parts in zip(*(gradient.parts for _, gradient in terms)):
            there = [(factor, part) for (factor, _), part in zip(terms, parts) if part is not None]
            if there:
                total += float(sum(factor * part.double() for factor, part in there).square().sum())
    return total**0.5


def inner(one, other):
    """The inner product of two gradients."""
    with tensors.unrecorded():
        pairs = [(a, b) for a, b in zip(one.parts, other.parts) if a is not None and b is not None]
        return sum(float((a.double() * b.double()).sum()) for a, b in pairs)


def distance(one, other):
    """How far `other` is from `one`, of the norm of `one`."""
    size, moved = one.norm(), combined([(1.0, other), (-1.0, one)])
    return moved / size if size else float(moved > 0)

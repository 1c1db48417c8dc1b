"""Whether a loader puts single samples together so that each has a row of its own."""

import torch

from .batches import leaves_of, with_orders
from .orders import permuted


def stacks(origin):
    """torch's own collate function does; another one is asked: for samples in another order it must give
    the same rows in that order. Draws from the generators."""
    if origin.collate is torch.utils.data.default_collate:
        return origin.batches is not None
    try:
        samples = [origin.data[index] for index in next(iter(origin.batches))]
        order = permuted(len(samples))
        whole = origin.collate(list(samples))
        dealt = origin.collate([samples[number] for number in order])
        return same(with_orders(whole, lambda _, rows: permuted(rows)), dealt)
    except Exception:  # the program's own code, called when it does not expect it
        return False


def same(one, other):
    pairs = list(zip(leaves_of(one), leaves_of(other)))
    return len(leaves_of(one)) == len(leaves_of(other)) and all(
        torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in pairs)

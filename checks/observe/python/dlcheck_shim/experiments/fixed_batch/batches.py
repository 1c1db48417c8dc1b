"""A batch that a loader stacked from single samples, as leaves that hold a row for each of them, and
other batches made of its rows."""

import torch

TEXTS = (str, bytes)


class Unarrangeable(Exception):
    """The batch holds what cannot be told apart into rows; says what that is."""


def mapped_leaves(batch, change):
    """The same nest with `change(leaf)` in the place of each leaf: a tensor, or a list of texts."""
    if isinstance(batch, torch.Tensor):
        return change(batch)
    if isinstance(batch, dict):
        made = {key: mapped_leaves(item, change) for key, item in batch.items()}
        return made if type(batch) is dict else type(batch)(made)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(mapped_leaves(item, change) for item in batch))
    if type(batch) in (list, tuple):
        if batch and all(isinstance(item, TEXTS) for item in batch):
            return change(batch)
        return type(batch)(mapped_leaves(item, change) for item in batch)
    raise Unarrangeable(f"the batch contains a {type(batch).__name__}")


def leaves_of(batch):
    found = []
    mapped_leaves(batch, lambda leaf: found.append(leaf) or leaf)
    return found


def samples_of(batch):
    """How many samples the batch holds; raises where its leaves do not agree on it."""
    counts = {rows_of(leaf) for leaf in leaves_of(batch)}
    if len(counts) != 1:
        raise Unarrangeable("not every part of the batch has a row for each sample")
    return counts.pop()


def rows_of(leaf):
    if not isinstance(leaf, torch.Tensor):
        return len(leaf)
    if leaf.dim() == 0 or leaf.layout is not torch.strided:
        raise Unarrangeable("the batch contains a 0-dimensional tensor")
    return leaf.shape[0]


def taken(leaf, order):
    """The rows of a leaf in this order."""
    if isinstance(leaf, torch.Tensor):
        return leaf[torch.tensor(order, device=leaf.device)]
    return type(leaf)(leaf[number] for number in order)


def joined(batches):
    """One batch of the rows of several whose rows are alike."""
    leaves = zip(*map(leaves_of, batches))

    def join(_):
        parts = next(leaves)
        if isinstance(parts[0], torch.Tensor):
            return torch.cat(parts)
        return type(parts[0])(text for part in parts for text in part)

    return mapped_leaves(batches[0], join)


def with_orders(batch, order_of):
    """The batch with the rows of its leaves in other orders; `order_of` takes the number of a leaf and
    how many rows there are, and gives their order."""
    samples, numbers = samples_of(batch), iter(range(len(leaves_of(batch))))
    return mapped_leaves(batch, lambda leaf: taken(leaf, order_of(next(numbers), samples)))


def form_of(batch):
    """What is alike in all batches of a data set: kinds and sizes, but for the number of rows."""
    try:
        return [(leaf.dtype, leaf.shape[1:]) if isinstance(leaf, torch.Tensor) else type(leaf)
                for leaf in leaves_of(batch)]  # fmt: skip
    except Unarrangeable:
        return type(batch)

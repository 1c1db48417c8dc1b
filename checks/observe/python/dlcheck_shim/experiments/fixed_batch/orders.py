"""Orders in which the rows of a batch are dealt anew. Each is a function of their number alone, so that
what belongs together in batches of several loaders stays together."""

import torch

FEWEST = 4  # rows; of fewer, every order without a fixed row may be one that a program deals itself


def permuted(count):
    """One cycle through all rows, so that none stays; neither a rotation nor a mere swap of ends, under
    which a batch whose targets are rotated or reversed against its inputs is as it was."""
    if count < FEWEST:
        return rotated(range(count), count)
    source, order = torch.Generator().manual_seed(count), list(range(count))
    while commutes(order, rotated(range(count), count)) or commutes(order, range(count - 1, -1, -1)):
        order = list(range(count))
        for last in range(count - 1, 0, -1):  # Sattolo's algorithm
            other = int(torch.randint(last, (), generator=source))
            order[last], order[other] = order[other], order[last]
    return order


def commutes(one, other):
    return all(one[b] == other[a] for a, b in zip(one, other))


def halves(count):
    """The rows, parted in two at random."""
    shuffled = torch.randperm(count, generator=torch.Generator().manual_seed(count)).tolist()
    return shuffled[::2], shuffled[1::2]


def rotated(rows, count):
    """Each of these rows goes to the place of the next; the others stay."""
    order = list(range(count))
    for row, other in zip(rows, [*rows[1:], *rows[:1]]):
        order[row] = other
    return order


def repeated(rows, count):
    """Of each two of these rows, the first takes the place of both."""
    order = list(range(count))
    for row, other in zip(rows[1::2], rows[::2]):
        order[row] = other
    return order

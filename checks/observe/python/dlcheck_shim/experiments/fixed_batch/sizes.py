"""SIZE: how the parts of a loss weigh against each other does not depend on how many samples a batch
holds. Made of one, two and three copies of the same rows, a batch tells what is summed over it from
what is averaged: g(n) = n * summed + averaged.

Last, because a program may count on its batches having a size; from here on it may end as it likes.
"""

import atexit
import functools

from .batches import with_orders
from .gradients import combined
from .unjudged import Unjudged

COPIES = 3


def try_sizes(held):
    """Writes how much of the gradient is summed and how much averaged; of the averaged part only what
    depends on the samples, as a penalty on the weights does not."""
    held.without_draws()
    if held.fetches.fewest_samples() < 2 * COPIES:
        raise Unjudged(f"the batch has fewer than {2 * COPIES} samples")
    give_up = functools.partial(held.give_up_at_exit, "sizes")
    atexit.register(give_up)
    rows = {}
    for part in (0, 1):
        for copies in range(1, COPIES + 1):
            rows[part, copies] = (yield from held.arranged(copied(part, copies))).gradient
    atexit.unregister(give_up)
    one, two, three = (rows[0, copies] for copies in (1, 2, 3))
    size, thing = one.norm(), held.thing()
    if size == 0:
        raise Unjudged("the gradient is zero under the experiment")
    other, other_two = rows[1, 1], rows[1, 2]
    summed = combined([(1, two), (-1, one)])
    averaged = combined([(2, one), (-1, two), (-2, other), (1, other_two)])
    bent = combined([(1, three), (-2, two), (1, one)])
    return [("summed_part", thing, summed / size, held.rounding_of_gradient()),
            ("averaged_part", thing, averaged / size, bent / size)]  # fmt: skip


def copied(part, copies):
    """The first or the second third of the rows, so many times."""

    def order(_, rows):
        size = rows // COPIES
        return list(range(part * size, (part + 1) * size)) * copies

    def change(_, batch):
        return with_orders(batch, order)

    return change

"""ORDER: samples stand in a batch in the order in which they were drawn, which says nothing. When they
change places, each with all that belongs to it, the gradient of the step stays."""

from .batches import with_orders
from .gradients import distance
from .orders import permuted


def try_order(held):
    held.without_draws()
    moved = yield from held.arranged(dealt_anew)
    share = distance(held.whole.gradient, moved.gradient)
    return [("order_sensitivity", held.thing(), share, held.rounding_of_gradient())]


def dealt_anew(_, batch):
    return with_orders(batch, lambda _, rows: permuted(rows))

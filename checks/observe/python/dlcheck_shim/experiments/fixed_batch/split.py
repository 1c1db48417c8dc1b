"""SPLIT: how samples are dealt among the micro-batches of a step says nothing. When whole micro-batches
change places, or some of their samples, the gradient of the step stays.

Where whole micro-batches cannot be turned without effect, their place in the step weighs: one that holds
other samples than all others tells by how far it moves the gradient how much its place counts.

Where samples alone cannot, it may be that they act on each other. Of micro-batches that all hold the same
two blocks of samples, the gradient is then no sum over the blocks, divided by any number that is known
of them: for two choices of each block, the four gradients are linearly independent. They depend on each
other where samples do not act on each other, whatever a micro-batch is divided by.
"""

import atexit
import functools

import torch

from .gradients import combined, distance, inner
from .orders import rotated
from .parts import parts_of
from .unjudged import Unjudged

MOST_PLACES = 8  # whose weights are worked out one by one
KNOWN = 0.01  # of the weight of a step: how well they are to be known
FEWEST_WEIGHTS = 16  # of a gradient: of fewer, four are alike by chance


def try_split(held):
    """Writes how far the gradient moves, and what that may come from."""
    parts = parts_of(held)
    held.without_draws()
    give_up = functools.partial(held.give_up_at_exit, "split")
    atexit.register(give_up)
    try:
        return (yield from tried(held, parts))
    finally:
        atexit.unregister(give_up)


def tried(held, parts):
    rounding, rows = held.rounding_of_gradient(), []
    if parts.turns:
        step = yield from seen(held, parts.whole(rotated(range(parts.count), parts.count)))
        turned = distance(held.whole.gradient, step)
        rows.append(("turned_window", held.thing(), turned, rounding))
        if is_more(turned, rounding):
            rows += yield from weights(held, parts)
    if not rows or not is_more(turned, rounding):
        try:
            rows += yield from mixed(held, parts, rounding)
        except Unjudged as error:
            if not rows:
                raise
            held.watch.recorder.attribute(0, "untried/mixed", str(error))
    held.watch.recorder.attribute(0, "held_window", parts.words)
    if hasattr(parts, "inside"):
        held.watch.recorder.attribute(0, "held_cut", 1)
    return rows


def is_more(moved, rounding):
    """Worth being looked into; the check has the last word."""
    return moved > 2 * rounding + 1e-6


def seen(held, deal):
    step = yield from held.dealt(deal)
    if not step.is_as_long_as(held.whole):
        raise Unjudged("the number of micro-batches changes from step to step")
    return step.gradient


def weights(held, parts):
    """How much each place counts of a step, where that is all it does."""
    if parts.count > MOST_PLACES:
        return []
    zeros = [0] * parts.count
    base = yield from seen(held, parts.whole(zeros))
    all_moved = yield from seen(held, parts.whole([1] * parts.count))
    size = distance(base, all_moved) * base.norm()
    shares = []
    for place in range(parts.count):
        one = yield from seen(held, parts.whole([*zeros[:place], 1, *zeros[place + 1 :]]))
        share = (inner(one, all_moved) - inner(one, base) - inner(base, all_moved) + base.norm() ** 2) / size**2
        if combined([(1, one), (share - 1, base), (-share, all_moved)]) > KNOWN * size:
            return []
        shares.append(share)
    if abs(sum(shares) - 1) > KNOWN:
        return []
    recorder = held.watch.recorder
    return [("micro_batch_share", recorder.thing("micro_batch", place, ""), share)
            for place, share in enumerate(shares)]  # fmt: skip


def mixed(held, parts, rounding):
    """Every other sample goes to the same row of the next micro-batch that has one."""
    as_it_was, whole = parts.open(), held.whole.gradient
    shortest = min(parts.sizes)
    if shortest < 2:
        raise Unjudged("a micro-batch has only one sample")
    table = [[(micro, row) for row in range(size)] for micro, size in enumerate(parts.sizes)]
    if not as_it_was:
        whole = yield from seen(held, parts.mixed(table))
    if hasattr(parts, "inside"):
        inside = yield from seen(held, parts.inside())
        if is_more(distance(whole, inside), rounding):
            raise Unjudged("sample order matters within a micro-batch, or the batch is split differently")
    other = [[((micro - (row % 2 and row < shortest)) % parts.count, row) for micro, row in part]
             for part in table]  # fmt: skip
    dealt = yield from seen(held, parts.mixed(other))
    moved = distance(whole, dealt)
    rows = [("mixed_window", held.thing(), moved, rounding)]
    if is_more(moved, rounding):
        bent, ratio = yield from dependence(held, parts, moved)
        rows.append(("bent_window", held.thing(), bent, ratio))
    return rows


def dependence(held, parts, moved):
    """(how far samples act on each other, as a share of the gradient's norm; how much a sample counts in
    micro-batches as the first, beside one as the second)."""
    found = []
    for first, second in ((0, 0), (0, 1), (1, 0), (1, 1)):
        found.append((yield from seen(held, parts.mixed([
            [filling(parts, (first, second)[row % 2], row) for row in range(size)]
            for size in parts.sizes]))))  # fmt: skip
    if sum(int((part != 0).sum()) for part in found[0].parts if part is not None) < FEWEST_WEIGHTS:
        raise Unjudged("the gradient has too few elements")
    products = torch.tensor([[inner(one, other) for other in found] for one in found], dtype=torch.float64)
    values, vectors = torch.linalg.eigh(products)
    bent, next_to_it = (values[:2].clamp(0).sqrt() / held.whole.gradient.norm()).tolist()
    counts = vectors[:, 0] * vectors[0, 0].sign() * torch.tensor([1, -1, -1, 1])
    # As where the largest loss alone makes the gradient.
    if next_to_it < KNOWN * moved or float(counts.min()) < KNOWN:
        raise Unjudged("too few samples contribute to the gradient")
    return bent, float(counts[3] / counts[0])


def filling(parts, micro, row):
    return micro, row % parts.sizes[micro]

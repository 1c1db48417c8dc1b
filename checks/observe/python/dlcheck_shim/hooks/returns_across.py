"""Tells of returns and advantages that run on from one episode into the next: what a step is worth there holds rewards
that come after the end of its episode.

They are looked for among all tensors, which takes tens of milliseconds: a few times, and only in programs that
learn log-probabilities.
"""

import torch

from ..state.objects_alive import tensors_alive
from ..torch_api import tensors
from ..torch_api.on_host import on_host
from .terminal_values import MARKS

MOST_LOOKS, CONFIRMING = 3, 2  # looks in all, and those that must agree
FEWEST, MOST = 32, 1 << 16  # numbers of a tensor
MOST_COLUMNS, MOST_MARKS = 8, 3  # of one size
MOST_TRIED = 64  # steps, with which each choice of columns is tried first
FEWEST_ENDS = 2  # within: a reward at a single one could stand for what comes after it
LEAST_DISCOUNT, MOST_DISCOUNT = 0.3, 0.9999  # an undiscounted sum cannot be told from a count of steps
NEAR, LEAST_SHARE = 1e-4, 1e-3  # of the spread of the returns: the greatest rest, and what rewards have at least
WORST_CONDITION = 1e9


class ReturnsAcross:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.look = guard.isolated("returns")(self.look)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.wanted, self.looks, self.found = False, 0, 0

    def subscribe(self, moments):
        moments.probability_asked.append(self.asked)
        moments.backward_begins.append(self.look)

    def asked(self):
        self.wanted = True

    def look(self):
        if not self.wanted or self.looks >= MOST_LOOKS or not self.recorder.compares() or not tensors.may_compute():
            return
        self.wanted, self.looks = False, self.looks + 1
        with tensors.unrecorded():
            across = returns_across(tensors_alive())
        self.found += across is not None
        if self.found == CONFIRMING:
            self.looks = MOST_LOOKS
            thing = self.recorder.thing("operation", 0, "returns")
            self.recorder.quantity("returns_across", thing, float(across[0]), across[1], self.sites.current())


def returns_across(alive):
    """(ends of episodes within, discount) of a tensor of returns that does not stop at any of them; None if there is none."""
    by_size = {}
    for tensor in alive:
        if is_column(tensor):
            by_size.setdefault(tensor.numel(), []).append(tensor)
    for found in by_size.values():
        found = [one.detach() for one in map(on_host, found) if one.is_cpu]
        found = [one for place, one in enumerate(found) if not any(is_same(one, other) for other in found[:place])]
        marks = [one for one in found if is_mark(one)]
        numbers = of_program([one for one in found if one.is_floating_point() and bool(one.isfinite().all()) and float(one.std()) > 0])
        for mark in marks[:MOST_MARKS] if 0 < len(numbers) <= MOST_COLUMNS else ():
            for axis in range(mark.squeeze().dim()):
                discount = discount_across(mark, numbers, axis)
                if discount is not None:
                    return int(over_time(mark, mark, axis)[:-1].sum()), discount
    return None


def of_program(numbers):
    """Without copies of the probe, which have 64 bits; a program that computes in 64 bits has no others."""
    others = [one for one in numbers if one.dtype != torch.float64]
    return others if len(others) > 1 else numbers


def is_column(tensor):
    """One number for each step, of one environment or of several at a time, which no gradient reaches."""
    return (tensors.is_readable(tensor) and not tensor.requires_grad and not tensor.is_complex()
            and 1 <= tensor.dim() <= 3 and FEWEST <= tensor.numel() <= MOST)  # fmt: skip


def is_same(one, other):
    return one.data_ptr() == other.data_ptr() or one.dtype == other.dtype and torch.equal(one.flatten(), other.flatten())


def is_mark(tensor):
    """Ones at some steps, zeros at most."""
    if tensor.dtype not in MARKS or tensor.squeeze().dim() > 2 or not bool(((tensor == 0) | (tensor == 1)).all()):
        return False
    return 0 < int(tensor.sum()) <= tensor.numel() // 2


def over_time(tensor, mark, axis):
    """The numbers of steps by time and environment."""
    return tensor.reshape(mark.squeeze().shape).double().movedim(axis, 0)


def discount_across(mark, numbers, axis):
    """The factor with which one of some tensors goes on from each step to the one before it, marked or not, if what it
    gains there is a reward, or a reward and the difference of two values."""
    ends = over_time(mark, mark, axis)
    if ends.shape[0] < 4 or int(ends[:-1].sum()) < FEWEST_ENDS:
        return None
    series = torch.stack([over_time(one, mark, axis) for one in numbers])
    columns = torch.cat([torch.ones_like(series[:1, 1:]), series[:, 1:], series[:, :-1], series[:, 1:] * (1 - ends[:-1])])
    columns = columns.flatten(1)
    for number, wanted in enumerate(columns[1 + len(series) : 1 + 2 * len(series)]):
        first = columns[1 + number][ends[:-1].flatten() == 1]
        if float(first.max() - first.min()) > NEAR * float(wanted.std()):
            for choice in those_that_may_fit(columns, wanted, choices(number, len(series))):
                discount = fitting(columns[choice].T, wanted)
                if discount is not None:
                    return discount
    return None


def choices(number, count):
    """Numbers of columns, of which the returns of a step may be a sum: those of the next step; 1 or a reward; and
    the value of the next step, which may count for nothing at the ends, and of this one."""
    after, now, stopped = (1 + count * place for place in range(3))
    others = [other for other in range(count) if other != number]
    yield [[after + number, 0]]
    yield [[after + number, now + reward, 0] for reward in others]
    yield [[after + number, now + reward, 0, following + value, now + value]
           for reward in others for value in others if value != reward for following in (after, stopped)]  # fmt: skip


def those_that_may_fit(columns, wanted, groups):
    """Choices that fit in some of the steps, all of one length at a time."""
    step = max(1, wanted.numel() // MOST_TRIED)
    some, goal = columns[:, ::step], wanted[::step]
    some = some / some.norm(dim=1, keepdim=True).clamp_min(1e-30)
    for group in groups:
        if group:
            known = some[torch.tensor(group)]
            products = known @ known.mT + 1e-12 * torch.eye(known.shape[1], dtype=known.dtype)
            factors = torch.linalg.solve(products, known @ goal)
            rest = (factors[:, None] @ known - goal).abs().amax((1, 2))
            yield from (choice for choice, left in zip(group, rest.tolist()) if left <= 10 * NEAR * float(wanted.std()))


def fitting(known, wanted):
    """The first factor of a sum of columns that is what is wanted, in all rows; None if there is none. The second
    column is what is gained in a step."""
    factors, spread = solved(known, wanted), float(wanted.std())
    if factors is None or float((known @ factors - wanted).abs().max()) > NEAR * spread:
        return None
    share = float((factors[1] * known[:, 1]).abs().max())
    return float(factors[0]) if share > LEAST_SHARE * spread and LEAST_DISCOUNT < float(factors[0]) < MOST_DISCOUNT else None


def solved(known, wanted):
    """By least squares; None where two of the columns say the same."""
    sizes = known.norm(dim=0)
    if float(sizes.min()) == 0:
        return None
    known = known / sizes
    products = known.T @ known
    if float(torch.linalg.cond(products)) > WORST_CONDITION:
        return None
    return torch.linalg.solve(products, known.T @ wanted) / sizes

"""Ratios of paired measurements: medians with a bootstrap interval, and what they say of a limit."""

import random
import statistics

RESAMPLES = 2000


def blocks_of(arms, count):
    """Runs each arm once a block, in random order; gives a dictionary of what they return."""
    order = random.Random(1)
    for _ in range(count):
        names = list(arms)
        order.shuffle(names)
        yield {name: arms[name]() for name in names}


def interval(ratios):
    """Median and the bounds of its bootstrap interval of 95 %."""
    draw = random.Random(2)
    medians = sorted(
        statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES)
    )
    return statistics.median(ratios), medians[RESAMPLES // 40], medians[-RESAMPLES // 40]


def verdict(bounds, limit):
    _, low, high = bounds
    return "met" if high <= limit else "not met" if low > limit else "inconclusive"


def shown(bounds):
    return f"{bounds[0]:.3f} ({bounds[1]:.3f} to {bounds[2]:.3f})"

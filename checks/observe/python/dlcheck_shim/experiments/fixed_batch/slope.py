"""SLOPE: along its gradient, the loss of a step rises as fast as the gradient says.

The weights are moved a little to and fro along what the backward calls of a step add to the gradients,
and the program works out there what they start from. Two distances tell how well the slope is known;
so does a bend that does not vanish at the smaller one, which is a kink.
"""

import math

import torch

from ...torch_api import tensors
from .cuts import Cuts
from .fetches import as_they_are
from .unjudged import Unjudged

# Of the size of the loss: how much it is to change. The smaller ones where the larger ones bend.
SHARES = ((5e-3, 2.5e-3), (1e-3, 5e-4))
GOOD = 1e-3  # uncertainty of a slope that need not be measured again


class Moved:
    """As a context, the weights are moved along a gradient; `rise` is how far it says the loss rises."""

    def __init__(self, parameters, gradient, factor):
        self.pairs = [(p, g) for p, g in zip(parameters, gradient) if g is not None]
        self.factor, self.rise = factor, 0.0

    def __enter__(self):
        with tensors.unrecorded():
            self.kept = [parameter.detach().clone() for parameter, _ in self.pairs]
            for (parameter, gradient), kept in zip(self.pairs, self.kept):
                parameter.data.copy_(kept.double() + self.factor * gradient)
                self.rise += float(((parameter.double() - kept.double()) * gradient).sum())
            self.there = [parameter.detach().clone() for parameter, _ in self.pairs]
        return self

    def __exit__(self, *error):
        with tensors.unrecorded():
            self.stayed = all(torch.equal(p, there) for (p, _), there in zip(self.pairs, self.there))
            for (parameter, _), kept in zip(self.pairs, self.kept):
                parameter.data.copy_(kept)
        self.kept = self.there = []


def try_slope(held):
    """Writes the slope over what the gradient says, and what may make it another one."""
    parameters = list({id(p): p for p in held.parameters()}.values())
    if any(p.is_complex() for p in parameters):
        raise Unjudged("the model has complex weights")
    held.window.open(parameters)
    try:
        losses, gradient, cuts = yield from with_cuts(held)
        ratio, uncertainty = yield from measured(held, losses, gradient)
    finally:
        held.window.close()
    rows = [("slope_ratio", held.thing(), ratio, uncertainty)]
    for (name, site), count in sorted(cuts.items()):
        rows.append(("graph_cuts", held.watch.recorder.thing("operation", 0, name), count, 0.0, site))
    return rows


def with_cuts(held):
    """What a step starts its backward calls from, the gradient that they add, and its cuts."""
    cuts = held.window.cuts = Cuts(held.watch)
    begun = cuts.begin()
    try:
        yield from held.arranged(as_they_are)
    finally:
        all_seen = begun and cuts.end()
        held.window.cuts = None
    if not all_seen:
        cuts.seen["calls that are not seen", 0] = 1
    return (*held.window.take(), cuts.seen)


def measured(held, losses, gradient):
    """(slope over what the gradient says, uncertainty of that)."""
    size = sum(map(abs, losses))
    square = sum(float(part.square().sum()) for part in gradient if part is not None)
    if size == 0 or square == 0:
        raise Unjudged("the loss or the gradient is zero")
    found = []
    for coarse, fine in SHARES:
        wide, bend = yield from slope(held, losses, gradient, coarse * size / square)
        narrow, bend_there = yield from slope(held, losses, gradient, fine * size / square)
        rounding = 2 * max(held.resolution.coarsest, held.window.resolution) / fine
        kink = abs(2 * bend_there - bend) / 2
        found.append((abs(wide - narrow) + kink + rounding, narrow))
        if found[-1][0] < GOOD:
            break
    uncertainty, ratio = min(found)
    if not math.isfinite(uncertainty + ratio):
        raise Unjudged("the loss is not finite at nearby weights")
    return ratio, uncertainty


def slope(held, losses, gradient, factor):
    """(slope, how much it differs between the two sides), both over what the gradient says."""
    rises = []
    for sign in (1, -1):
        with Moved(held.window.parameters, gradient, sign * factor) as moved:
            yield from held.arranged(as_they_are)
        there, _ = held.window.take()
        if not moved.stayed:
            raise Unjudged("the program changes weights outside of the optimizer")
        if len(there) != len(losses):
            raise Unjudged("the number of backward calls changes under the experiment")
        rises.append((math.fsum(a - b for a, b in zip(there, losses)), moved.rise))
    (up, said_up), (down, said_down) = rises
    if said_up <= 0 or said_down >= 0:
        raise Unjudged("the weights cannot be moved by so small a step")
    return (up - down) / (said_up - said_down), up / said_up - down / said_down

"""Looks for texts that go on along the batch axis and not along the axis on which the model predicts the next token:
measured is how much more a token tells of its neighbor than of one far away, on either axis.
"""

import torch

from ..state.tokens import is_sequence
from ..torch_api import tensors
from ..torch_api.on_host import on_host

STEPS, FEWEST_PAIRS, MOST_TOKENS = 32, 1024, 4096  # compared steps; pairs on each axis; different tokens
FEWEST_ROWS, FEWEST_TIMES, MOST_IN_BATCH = 4, 4, 1 << 16
LEAST, LESS = 0.3, 0.7  # nats along the batch; of which time tells less than this share
MOST_EQUAL = 0.1  # share of neighbors that are equal, above that of rows drawn apart


class TextAcrossBatch:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.found = {}  # by thing of a loss: pairs of each kind, as `pairs_of` gives them; None once it is known
        self.tokens = None  # a copy of those of the forward under way: the program may let them go before its loss

    def subscribe(self, moments):
        moments.batch_compared.append(self.enter)
        moments.loss_compared.append(self.add)

    def enter(self, inputs):
        found = [given for given in inputs if tensors.is_readable(given) and is_sequence(given)]
        is_wanted = len(found) == 1 and found[0].numel() <= MOST_IN_BATCH and None not in self.found.values()
        tokens = on_host(found[0]) if is_wanted else None
        self.tokens = tokens.clone() if is_wanted and tokens.is_cpu else None

    def add(self, call):
        found = self.found.setdefault(call.thing, [])
        tokens, target = self.tokens, call.target
        if found is None or tokens is None or call.function not in ("cross_entropy", "nll_loss"):
            return
        if target.numel() != tokens.numel() or target.is_floating_point() or not tensors.is_readable(target) or not (target := call.host_target).is_cpu:
            return
        rows = in_time(tokens, target.detach().reshape(tokens.shape))
        if rows is None or int(rows.min()) < 0 or int(rows.max()) >= MOST_TOKENS:
            self.found[call.thing] = None
            return
        found.append(pairs_of(rows))
        if len(found) == STEPS:
            self.found[call.thing] = None
            self.judge(call.thing, [torch.cat(each) for each in zip(*found)])

    def judge(self, thing, pairs):
        time, later, across, apart = (told(each) for each in pairs)
        equal, by_chance = (float((each[:, 0] == each[:, 1]).double().mean()) for each in pairs[2:])
        enough = min(len(each) for each in pairs) >= FEWEST_PAIRS
        time, across = max(time - later, 0.0), across - apart
        if enough and across >= LEAST and time < LESS * across and equal <= by_chance + MOST_EQUAL:
            self.recorder.quantity("text_across_batch", thing, across, time, self.sites.current())


def in_time(tokens, target):
    """The tokens as (rows, times), by the axis on which the targets are those that follow; None where neither is, or both."""
    axes = [axis for axis in (0, 1) if tokens.shape[axis] >= FEWEST_TIMES
            and torch.equal(target.narrow(axis, 0, tokens.shape[axis] - 1).to(tokens.dtype), tokens.narrow(axis, 1, tokens.shape[axis] - 1))]  # fmt: skip
    rows = None if len(axes) != 1 else tokens.t() if axes[0] == 0 else tokens
    return rows if rows is not None and rows.shape[0] >= FEWEST_ROWS else None


def pairs_of(rows):
    """(pairs, 2) of neighbors in time and of tokens half the time apart, of neighbors along the batch and of tokens half
    a batch apart: what tokens far apart tell of each other is due to the kind of text."""
    each = ((rows[:, :-1], rows[:, 1:]), (rows, rows.roll(rows.shape[1] // 2, 1)),
            (rows[:-1], rows[1:]), (rows, rows.roll(rows.shape[0] // 2, 0)))  # fmt: skip
    return [torch.stack([one.reshape(-1), other.reshape(-1)], 1) for one, other in each]


def told(pairs):
    """The mutual information of pairs in nats, without what so few pairs show by chance (Miller and Madow)."""
    size = int(pairs.max()) + 1
    joint = (pairs[:, 0] * size + pairs[:, 1]).unique(return_counts=True)[1].double()
    sides = [pairs[:, side].bincount().double() for side in (0, 1)]
    sides = [side[side > 0] for side in sides]
    cells = [len(sides[0]), len(sides[1]), len(joint)]
    chance = (cells[0] + cells[1] - cells[2] - 1) / (2 * len(pairs))
    return sum(entropy(side) for side in sides) - entropy(joint) + chance


def entropy(counts):
    share = counts / counts.sum()
    return float(-(share * share.log()).sum())

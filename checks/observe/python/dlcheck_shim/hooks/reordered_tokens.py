"""Compares the targets of a model of texts with the tokens that it was given: targets that are the following tokens, but
of other rows or positions, were reordered on the way to the loss.
"""

import torch

from ..state.tokens import shift_of
from ..torch_api import tensors

STEPS, LEAST_MISPLACED = 6, 0.5  # compared steps, all of which must have reordered targets; share of rows or targets
FEWEST_ROWS, MOST_TARGETS = 4, 1 << 16  # of a batch


class ReorderedTokens:
    def __init__(self, recorder, sites, last_batch):
        self.recorder, self.sites, self.last_batch = recorder, sites, last_batch
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.found = {}  # by thing of a loss and shape: misplaced targets of each step; None once it is known

    def subscribe(self, moments):
        moments.loss_compared.append(self.add)

    def add(self, call):
        key = (call.thing, call.target.shape[1:])
        found = self.found.setdefault(key, [])
        if found is None or call.function not in ("cross_entropy", "nll_loss"):
            return
        target = call.host_target.detach()
        if not tensors.is_readable(target) or not target.is_cpu or not 0 < target.numel() <= MOST_TARGETS:
            return
        words = [tokens for tokens in self.last_batch.words() if tokens.is_cpu]
        if len(words) != 1 or target.is_floating_point():
            return
        misplaced = misplaced_targets(words[0], target, call.options.get("ignore_index", -100))
        if not misplaced:
            self.found[key] = None
            return
        found.append((misplaced, target.numel()))
        if len(found) == STEPS:
            self.found[key] = None
            self.recorder.quantity("reordered_targets", call.thing, *(float(sum(each)) for each in zip(*found)),
                                   self.sites.current())  # fmt: skip


def misplaced_targets(tokens, target, ignored):
    """How many of the targets are following tokens (batch, positions) in another order; 0 where most are in theirs, where
    they are other things or some are ignored."""
    batch, positions = tokens.shape
    if batch < FEWEST_ROWS or target.numel() not in (batch * positions, batch * (positions - 1)):
        return 0
    if bool((target == ignored).any()) or shift_of(tokens, target, ignored) is not None:
        return 0
    rows, following = target.reshape(batch, -1), tokens[:, 1:].to(target.dtype)
    known = rows[:, : positions - 1]
    apart = (known != following).any(1)
    if float(apart.double().mean()) < LEAST_MISPLACED:
        return 0
    if are_rows_of(known, following):
        return int(apart.sum()) * rows.shape[1]
    if is_rolled(rows, tokens.to(target.dtype)) or holds_all_of(target, following) and not holds_rows_of(rows, following):
        return int((known != following).sum())
    return 0


def are_rows_of(rows, others):
    """Whether the rows of one are those of the other, which differ from each other, in another order."""
    unique, numbers = torch.cat([others, rows]).unique(dim=0, return_inverse=True)
    count = len(others)
    return len(unique) == count and numbers[:count].unique().numel() == count == numbers[count:].unique().numel()


def is_rolled(rows, tokens):
    """Whether flat targets were moved on by one: each is the token at its own position then, but for those that come from
    the row before."""
    width = rows.shape[1]
    return torch.equal(rows[:, 1:], tokens[:, 1:width]) and float((rows[:, 0] != tokens[:, 0]).double().mean()) >= LEAST_MISPLACED


def holds_all_of(target, following):
    """Whether all following tokens are there, as often as in the texts."""
    size = int(max(target.max(), following.max())) + 1
    if int(min(target.min(), following.min())) < 0:
        return False
    there, wanted = (torch.bincount(each.reshape(-1), minlength=size) for each in (target, following))
    return bool((there >= wanted).all())


def holds_rows_of(rows, following):
    """Whether half of the rows hold the following tokens of their own row, in any order: texts may be sorted or reversed."""
    own = [holds_all_of(row, other) for row, other in zip(rows, following)]
    return sum(own) >= LEAST_MISPLACED * len(own)

"""Looks whether a policy learns from the log-probabilities of actions that were clipped after they were drawn: such
an action was never drawn, and its probability is another one.
"""

import collections

import torch

from ..torch_api import tensors
from ..torch_api.on_host import is_at_hand
from ..torch_api.wrapping import followed_by, replace

MOST_VALUES, MOST_KEPT = 4096, 1 << 16  # of a call; of all samples
FEWEST, ENOUGH = 256, 1 << 14  # actions, before anything is said and after which nothing is
LEAST_DRAWN, LEAST_CLIPPED, FEWEST_EQUAL = 0.9, 0.02, 8  # shares; actions at a bound


class ClippedActions:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.drawn, self.asked = guard.isolated("actions")(self.drawn), guard.isolated("actions")(self.asked)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.samples, self.others = set(), collections.Counter()  # of the distributions; what is asked for beside them
        self.all, self.known = 0, 0

    def watch_all(self):
        normal = torch.distributions.Normal
        for name in ("sample", "rsample"):
            replace([normal], name, followed_by(self.drawn))
        replace([normal], "log_prob", followed_by(self.asked))

    def drawn(self, result, args, kwargs):
        if self.all < ENOUGH and is_read(result):
            if len(self.samples) > MOST_KEPT:
                self.samples.clear()
            self.samples.update(values_of(result))

    def asked(self, result, args, kwargs):
        """In training: where the log-probability has a gradient and the action none."""
        action = args[1] if len(args) > 1 else kwargs.get("value")
        if not self.samples or self.all >= ENOUGH or not is_read(action) or action.requires_grad or not result.requires_grad:
            return
        values = values_of(action)
        known = sum(value in self.samples for value in values)
        self.all, self.known = self.all + len(values), self.known + known
        if len(self.others) < MOST_VALUES:
            self.others.update(value for value in values if value not in self.samples)
        if self.all >= FEWEST:
            self.judge()

    def judge(self):
        """Two bounds have many equal actions; of all others nearly all were drawn."""
        clipped = sum(count for _, count in self.others.most_common(2) if count >= FEWEST_EQUAL)
        if clipped >= LEAST_CLIPPED * self.all and self.known >= LEAST_DRAWN * (self.all - clipped) and self.known:
            thing = self.recorder.thing("distribution", 0, "Normal")
            self.recorder.quantity("clipped_actions", thing, clipped / self.all, float(self.all), self.sites.current())
            self.all = ENOUGH


def is_read(tensor):
    return tensors.is_readable(tensor) and 0 < tensor.numel() <= MOST_VALUES and is_at_hand(tensor) and tensors.may_compute()


def values_of(tensor):
    with tensors.unrecorded():
        return tensor.detach().reshape(-1).tolist()

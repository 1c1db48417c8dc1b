"""Tells of policies that learn the log-probability of actions that nobody keeps: they were drawn anew in its call, so
no environment can have taken them.

How many references an object has is compared with what the same call of a temporary and of a kept object showed at the
start, because that differs between versions of Python.
"""

import sys
import weakref

import torch

from ..torch_api import tensors
from ..torch_api.wrapping import around, followed_by, replace

KINDS = ("Categorical", "Normal", "Bernoulli")
FEWEST = 8  # actions drawn anew


class UnkeptActions:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        for name in ("drawn", "count", "asked", "write"):
            setattr(self, name, guard.isolated("unkept")(getattr(self, name)))
        self.unkept = None  # references that the call of a temporary shows; None where one that is kept has as many
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.latest, self.references = None, 0
        self.anew, self.kept, self.place = 0, 0, None

    def subscribe(self, moments):
        moments.run_ends.append(self.write)

    def watch_all(self):
        kinds = [getattr(torch.distributions, name) for name in KINDS]
        replace(kinds, "sample", followed_by(self.drawn))
        replace(kinds, "log_prob", around(self.count, self.asked))
        self.measure()

    def measure(self):
        """Nothing is drawn for it."""
        coin = torch.distributions.Bernoulli(torch.tensor(0.5))
        coin.log_prob(torch.tensor(0.0))
        of_temporary, self.references = self.references, 0
        kept = torch.tensor(0.0)
        coin.log_prob(kept)
        self.unkept = of_temporary if 0 < of_temporary < self.references else None

    def drawn(self, result, args, kwargs):
        self.latest = weakref.ref(result) if type(result) in tensors.PLAIN else None

    def count(self, args, kwargs):
        """Before the function itself refers to it."""
        self.references = sys.getrefcount(args[1]) if len(args) > 1 else sys.getrefcount(kwargs["value"]) if "value" in kwargs else 0

    def asked(self, result, args, kwargs):
        action = args[1] if len(args) > 1 else kwargs.get("value")
        if type(result) not in tensors.PLAIN or not result.requires_grad or type(action) not in tensors.PLAIN or action.requires_grad:
            return
        self.recorder.moments.probability_asked()
        if self.unkept == self.references and self.latest is not None and self.latest() is action:
            self.anew += 1
            self.place = self.place or self.sites.current()
        else:
            self.kept += 1

    def write(self):
        """Where no probability of another action is learnt: the spread of a policy may be estimated from a draw, too."""
        if self.anew >= FEWEST and not self.kept and self.recorder.request.experiment == "plain":
            thing = self.recorder.thing("distribution", 0, "log_prob")
            self.recorder.quantity("unkept_actions", thing, float(self.anew), site=self.place)

"""Watches whether training draws the same random numbers again, because the program sets its seed again."""

import torch

from ..record.digest import digest
from ..torch_api import tensors
from ..torch_api.random_states import random_states

MOST_SEEDS = 2048  # that are looked at; the first ones
MOST_LOOKS = 4  # after a seed was set, until something was drawn


class Reseeding:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.seeded = guard.isolated("seed")(self.seeded)
        self.look = guard.isolated("seed")(self.look)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.looked_at, self.looks = 0, 0
        self.last = None  # a seed that nothing was drawn with yet, the fresh state, and where it was set
        self.drawn = None  # the state after a forward that drew, and where its seed was set

    def subscribe(self, moments):
        moments.seeded.append(self.seeded)
        moments.backward_begins.append(self.forward_ended)
        moments.unsampled_backward_begins.append(self.forward_ended)
        moments.gradients_used.append(self.consumed)

    def seeded(self, seed):
        """`seed` was given to torch.manual_seed; the next forward or step that draws says what came of it."""
        if self.looked_at < MOST_SEEDS and tensors.may_compute():
            self.looked_at += 1
            self.last, self.looks = (seed, state_digest(), self.sites.current(always=True)), 0

    def forward_ended(self):
        """A seed may be set again between this backward and its step."""
        if self.last is not None:
            self.look()

    def consumed(self, _, watched):
        """As a step of an optimizer begins, for which the forward and the data were drawn."""
        if self.last is not None:
            self.look()
        if self.drawn is not None:
            (state, site), self.drawn = self.drawn, None
            thing = self.recorder.thing("generator", 0, "torch")
            self.recorder.quantity("drawn_state", thing, state >> 32, state & 0xFFFFFFFF, site, watched.thing)

    def look(self):
        if not tensors.may_compute():
            return
        (seed, fresh, site), self.looks = self.last, self.looks + 1
        # A program that puts the state back, after an evaluation, puts its seed back too.
        if torch.initial_seed() != seed % (1 << 64):
            self.last = None
            return
        state = state_digest()
        if state != fresh:
            self.drawn, self.last = (state, site), None
        elif self.looks == MOST_LOOKS:
            self.last = None


def state_digest():
    with tensors.unrecorded():
        return digest(random_states())

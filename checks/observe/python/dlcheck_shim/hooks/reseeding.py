"""Watches whether training draws the same random numbers again, because the program sets its seed again."""

import torch

from ..record.digest import digest
from ..torch_api import tensors

MOST_SEEDS = 64  # that are looked at; the first ones


class Reseeding:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.seeded = guard.isolated("seed")(self.seeded)
        self.compare = guard.isolated("seed")(self.compare)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.looked_at, self.last = 0, None

    def subscribe(self, moments):
        moments.seeded.append(self.seeded)
        moments.gradients_used.append(self.consumed)

    def seeded(self, seed):
        """`seed` was given to torch.manual_seed; the next step of an optimizer says what came of it."""
        if self.looked_at < MOST_SEEDS and tensors.may_compute():
            self.looked_at += 1
            self.last = (seed, state_digest(), self.sites.current(always=True))

    def consumed(self, _, watched):
        """As a step of an optimizer begins, for which the forward and the data were drawn."""
        if self.last is not None:
            self.compare(watched)

    def compare(self, watched):
        if not tensors.may_compute():
            return
        (seed, fresh, site), self.last = self.last, None
        # A program that puts the state back, after an evaluation, puts its seed back too.
        if torch.initial_seed() != seed % (1 << 64):
            return
        drawn = state_digest()
        if drawn == fresh:
            return
        thing = self.recorder.thing("generator", 0, "torch")
        self.recorder.quantity("drawn_state", thing, drawn >> 32, drawn & 0xFFFFFFFF, site, watched.thing)


def state_digest():
    with tensors.unrecorded():
        return digest([torch.get_rng_state()])

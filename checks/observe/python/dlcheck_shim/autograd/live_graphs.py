"""Counts the graphs of earlier backward calls that still live: those of losses that were kept."""

import weakref

from .loss_graph import LIFE, Life, before_scaling, mark

MOST_LOOKED_AT = 256


class LiveGraphs:
    def __init__(self, recorder):
        self.recorder = recorder
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        # Weak references to what lives as long as a graph, with its number; the dead are let go.
        self.lives = []
        self.seen, self.earlier = 0, 0  # graphs so far, and those of them of earlier steps

    def subscribe(self, moments):
        moments.step_ends.append(self.end_step)

    def add(self, loss):
        """Before the backward from `loss`, in a sampled step."""
        if loss.grad_fn is not None:
            life = Life()
            mark(before_scaling(loss.grad_fn), LIFE, life)
            self.lives.append((weakref.ref(life), self.seen))
            self.seen += 1

    def end_step(self, owner):
        """The graph of this very step is still in the program's hands, and is not counted."""
        if self.earlier:
            first = self.earlier - MOST_LOOKED_AT
            self.lives = [(life, number) for life, number in self.lives
                          if number >= first and life() is not None]  # fmt: skip
            alive = sum([number < self.earlier for _, number in self.lives])
            self.recorder.quantity("live_graphs", 0, float(alive),
                                   float(min(self.earlier, MOST_LOOKED_AT)), owner=owner)  # fmt: skip
        self.earlier = self.seen

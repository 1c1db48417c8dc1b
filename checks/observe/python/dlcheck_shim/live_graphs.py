"""Counts the graphs of earlier backward calls that still live: those of losses that were kept."""

import collections
import weakref

from .loss_graph import LIFE, Life, mark

MOST_LOOKED_AT = 256


class LiveGraphs:
    def __init__(self, recorder):
        self.recorder = recorder
        self.lives = collections.deque(maxlen=MOST_LOOKED_AT)  # weak references and their steps
        recorder.on_fork.append(self.lives.clear)

    def add(self, loss):
        """Before the backward from `loss`, in a sampled step."""
        if loss.grad_fn is not None:
            life = Life()
            mark(loss.grad_fn, LIFE, life)
            self.lives.append((weakref.ref(life), self.recorder.step))

    def end_step(self, owner):
        """The graph of this very step is still in the program's hands, and is not counted."""
        earlier = [life for life, step in self.lives if step < self.recorder.step]
        if earlier:
            alive = sum(life() is not None for life in earlier)
            self.recorder.quantity("live_graphs", 0, float(alive), float(len(earlier)), owner=owner)

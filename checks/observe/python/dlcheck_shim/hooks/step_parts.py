"""Tells the clock of a step when its forward runs, and how long files take to be written."""

import torch

from ..system import perf_counter
from ..torch_api.wrapping import Around, replace


class StepParts:
    def __init__(self, guard, recorder):
        self.recorder = recorder
        self.saved = guard.isolated("file")(self.saved)

    def watch_all(self):
        replace([torch, torch.serialization], "save", Around(lambda *_: perf_counter(), None, self.saved))

    def subscribe(self, moments):
        moments.forward_given.append(self.begins)
        moments.forward_gave.append(self.ends)

    def begins(self, *_):
        if self.recorder.sampled:
            self.recorder.parts.begin("forward_time")

    def ends(self, *_):
        self.recorder.parts.end("forward_time")

    def saved(self, begun):
        if self.recorder.takes_scalars():
            self.recorder.quantity("saving_time", 0, perf_counter() - begun)

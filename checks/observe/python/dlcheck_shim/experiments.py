"""What a run that is not plain does differently; only here may the probe change what the program
does.

`same_seed`  nothing but an end after some steps;
`one_batch`  every step sees the batches of the first, under the reference optimizer, no dropout;
`reference`  the reference optimizer takes the place of the program's;
`blind`      as `reference`, and the inputs say nothing about their samples.
What cannot be carried out is refused: process attribute `refused` says why, and the process ends.
"""

import io
import os
import sys

import torch

from .reference_optimizer import ReferenceOptimizers
from .stand_ins import Blind, OneBatch, switch_dropout_off
from .wrapping import replace


def begin(request, watch):
    ending = Ending(watch.recorder)
    if request.experiment not in ("same_seed", "one_batch", "reference", "blind"):
        ending.refuse(f"this probe knows no experiment '{request.experiment}'")
    Saves(watch.recorder).redirect()
    if request.steps is not None:
        watch.steps.after_each.append(lambda: ending.stop_after(request.steps))
    if request.experiment == "same_seed":
        return
    ReferenceOptimizers(request.reference_rate).take_over()
    if request.experiment == "one_batch":
        switch_dropout_off()
        OneBatch(watch, ending.refuse).begin()
    elif request.experiment == "blind":
        Blind(watch, ending.refuse).begin()


class Ending:
    def __init__(self, recorder):
        self.recorder = recorder

    def stop_after(self, steps):
        if self.recorder.step >= steps:
            self.recorder.event("stopped", always=True)
            self.leave()

    def refuse(self, reason):
        self.recorder.begin()
        self.recorder.attribute(0, "refused", reason)
        self.leave()

    def leave(self):
        """Ends the process at once: no handler of the program may write over what it would not
        have."""
        self.recorder.finish()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass
        os._exit(0)


class Saves:
    """Keeps torch.save away from the program's files: what is saved stays in memory."""

    def __init__(self, recorder):
        self.recorder, self.files = recorder, {}

    def redirect(self):
        replace([torch, torch.serialization], "save", self.saving)
        replace([torch, torch.serialization], "load", self.loading)

    def saving(self, original):
        def save(obj, f, *args, **kwargs):
            memory = io.BytesIO()
            original(obj, memory, *args, **kwargs)
            if isinstance(f, (str, os.PathLike)):
                self.files[os.path.abspath(f)] = memory.getvalue()
                self.recorder.attribute(0, "redirected", ", ".join(self.files))

        return save

    def loading(self, original):
        def load(f, *args, **kwargs):
            if isinstance(f, (str, os.PathLike)) and os.path.abspath(f) in self.files:
                f = io.BytesIO(self.files[os.path.abspath(f)])
            return original(f, *args, **kwargs)

        return load

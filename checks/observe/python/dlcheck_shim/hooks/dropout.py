"""Watches dropout functions that the program calls itself: they drop as they are told, and by default they are
told to train, whatever the mode of the model is."""

import sys

import torch.nn.functional as F

from ..record.sites import OWN, kind_of
from ..torch_api.capabilities import is_compiling
from ..torch_api.wrapping import only_before, replace

FUNCTIONS = (
    "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout",
)  # fmt: skip
DEFAULT = 0.5  # torch's own, of all of them
CALLER = 3  # frames: the function below, `before` of only_before, the function of torch, who called it


class DropoutHooks:
    def __init__(self, guard, recorder, sites, forwards):
        self.recorder, self.sites, self.forwards = recorder, sites, forwards
        self.tell = guard.isolated("dropout", asks_tensors=False)(self.tell)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.counts = {}  # calls by model

    def watch_all(self):
        for name in FUNCTIONS:
            replace([F], name, only_before(self.called))

    def called(self, args, kwargs):
        """A module of torch passes its own mode on, and one that is in training mode was put there."""
        if is_compiling() or not self.forwards.root_number:
            return
        root = self.forwards.root()
        if root is None or root.training or not drops(*args[1:3], **kwargs):
            return
        if kind_of(sys._getframe(CALLER).f_code.co_filename) == OWN:
            self.tell(args[1] if len(args) > 1 else kwargs.get("p", DEFAULT))

    def tell(self, probability):
        model = self.forwards.model
        if model is None:
            return
        count = self.counts[model.thing] = self.counts.get(model.thing, 0) + 1
        if count & (count - 1) == 0:
            self.recorder.quantity("evaluation_dropout", model.thing, float(count), float(probability),
                                   site=self.sites.current(always=True))  # fmt: skip


def drops(p=DEFAULT, training=True, **others):
    return training is True and isinstance(p, (int, float)) and p > 0

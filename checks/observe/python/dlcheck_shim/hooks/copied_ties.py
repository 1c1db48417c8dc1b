"""Tells of an embedding and a layer that begin with the same numbers, or were one parameter, and are two that come
apart: weights that were to be tied.
"""

import weakref

import torch

from ..state import walking
from ..torch_api import private, tensors
from ..torch_api.on_host import is_at_hand
from .weights_met import AGAIN

FEWEST_ENTRIES, MOST_PAIRS = 64, 16


class CopiedTies:
    def __init__(self, guard, recorder, models):
        self.recorder, self.models = recorder, models
        self.meet, self.look = guard.isolated("ties")(self.meet), guard.isolated("ties")(self.look)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.pairs = []  # references to an embedding, to a layer, and the name of that

    def subscribe(self, moments):
        moments.model_met.append(self.meet)
        moments.sampled_stepped.append(self.end_step)

    def meet(self, root, model):
        if model.sharded or not tensors.may_compute():
            return
        named = list(walking.named_modules(root))
        tables = [module for _, module in named if isinstance(module, torch.nn.Embedding)]
        layers = [(name, module) for name, module in named if isinstance(module, torch.nn.Linear)]
        with tensors.unrecorded():
            for table in tables:
                for name, layer in layers:
                    one, other = weight_of(table), weight_of(layer)
                    if len(self.pairs) < MOST_PAIRS and are_equal(one, other):
                        self.pairs.append((weakref.ref(table), weakref.ref(layer), model, name))

    def end_step(self):
        if self.pairs and self.recorder.step in AGAIN and tensors.may_compute():
            self.look()

    def look(self):
        with tensors.unrecorded():
            for number, (table, layer, model, name) in enumerate(self.pairs):
                one, other = weight_of(table()), weight_of(layer())
                if one is not None and other is not None and one is not other and not are_equal(one, other):
                    thing = self.recorder.thing("copy", number, model.name(f"{name}.weight"))
                    apart = float((one.detach().double() - other.detach().double()).norm())
                    self.recorder.quantity("copied_tie", thing, apart, float(one.detach().double().norm()))


def weight_of(module):
    found = None if module is None else dict(walking.items_of(module, private.PARAMETERS)).get("weight")
    usable = found is not None and tensors.is_readable(found) and is_at_hand(found) and found.numel() >= FEWEST_ENTRIES
    return found if usable else None


def are_equal(one, other):
    if one is None or other is None or one.shape != other.shape or one.dtype != other.dtype:
        return False
    return one is other or bool(torch.equal(one, other) and one.any())

"""Tells of models most of whose weights are frozen as they were made: nobody trained them and nobody loaded any."""

import math

import torch

from ..state import walking
from ..torch_api import private, tensors
from ..torch_api.attributes import attribute
from ..torch_api.on_host import is_at_hand

LOOKS = (2, 32)  # steps after which models are looked at
LAYERS = (torch.nn.Linear, private.ConvNd)
FEWEST_ENTRIES = 256  # of the weight of a layer, for its spread to say something
NEAR = 0.06  # of the spread that numbers drawn evenly have


class FrozenWeights:
    def __init__(self, guard, recorder, models):
        self.recorder, self.models = recorder, models
        self.look = guard.isolated("frozen")(self.look)
        recorder.moments.begins_anew.append(self.reset)
        self.reset()

    def reset(self):
        self.drawn = {}  # by thing of a model: share of its entries in frozen layers that look as they were made

    def subscribe(self, moments):
        moments.sampled_stepped.append(self.end_step)

    def end_step(self):
        if self.recorder.step in LOOKS and tensors.may_compute():
            self.look()

    def look(self):
        for root, model in list(self.models.roots.items()):
            if model.sharded or not model.trained:
                continue
            parameters = list(walking.parameters(root))
            if any(not tensors.is_readable(p) for p in parameters):
                continue
            frozen = [layer for layer in walking.modules(root) if isinstance(layer, LAYERS) and is_frozen(layer)]
            entries = sum(weight_of(layer).numel() for layer in frozen if is_as_drawn(layer, weight_of(layer)))
            whole = sum(p.numel() for p in parameters)
            if whole and entries / whole >= 0.5 and any(p.requires_grad for p in parameters):
                self.recorder.quantity("frozen_as_made", model.thing, entries / whole, float(entries))


def weight_of(layer):
    return dict(walking.items_of(layer, private.PARAMETERS)).get("weight")


def is_frozen(layer):
    weight = weight_of(layer)
    return isinstance(weight, torch.Tensor) and not weight.requires_grad and weight.numel() >= FEWEST_ENTRIES


def is_as_drawn(layer, weight):
    """Whether the entries lie evenly between the bounds within which torch draws them for such a layer."""
    inputs = weight[0].numel() if not attribute(layer, "transposed", False) else weight.shape[1] * weight[0][0].numel()
    if not is_at_hand(weight) or not weight.is_floating_point() or not inputs:
        return False
    with tensors.unrecorded():
        values, bound = weight.detach().double(), 1 / math.sqrt(inputs)
        most, spread = float(values.abs().amax()), float(values.std())
    return most <= bound * (1 + 1e-5) and abs(spread * math.sqrt(3) / bound - 1) < NEAR

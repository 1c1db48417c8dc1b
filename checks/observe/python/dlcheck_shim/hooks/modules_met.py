"""Looks at the modules of a model as it is met: dropout that leaves hardly anything, and one layer that a
container holds several times.
"""

import torch

from ..state import walking
from ..torch_api import private
from ..torch_api.attributes import attribute

CONTAINERS = (torch.nn.ModuleList, torch.nn.Sequential)
MOST_DROPPED = 0.9


class ModulesMet:
    def __init__(self, guard, recorder, models):
        self.recorder, self.models = recorder, models
        self.meet = guard.isolated("modules", asks_tensors=False)(self.meet)

    def subscribe(self, moments):
        moments.model_met.append(self.meet)

    def meet(self, root, model):
        for _, module in walking.named_modules(root):
            if isinstance(module, private.DropoutNd):
                probability = attribute(module, "p", 0.0)
                if isinstance(probability, float) and probability >= MOST_DROPPED:
                    self.recorder.quantity("strong_dropout", self.models.modules.get(module, 0), probability)
            elif isinstance(module, CONTAINERS):
                self.look_for_repeats(model, module)

    def look_for_repeats(self, model, container):
        """Only of layers with parameters: to use one activation twice changes nothing."""
        held = [child for child in walking.children(container) if next(walking.parameters(child), None) is not None]
        different = len({id(child) for child in held})
        if different < len(held):
            thing = self.models.modules.get(container, 0) or model.thing
            self.recorder.quantity("repeated_layer", thing, float(len(held)), float(different))

"""Looks at copies of a model that are evaluated, as averages of its weights are: whether their batch normalization has
the statistics that it was made with, while that of the model has others.
"""

from ..record.identity import IdentityMap
from ..state import walking
from ..torch_api import private, tensors
from .layer_inputs import is_as_made

FIRST_STEP = 8
OF_A_COPY = 3.0


class CopiesEvaluated:
    def __init__(self, guard, recorder, sites, models):
        self.recorder, self.sites, self.models = recorder, sites, models
        self.look = guard.isolated("network")(self.look)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.known, self.seen = IdentityMap(), 0  # modules that were looked at

    def evaluated(self, module):
        """In evaluation mode and with gradients disabled; nobody trains it."""
        if self.recorder.step >= FIRST_STEP and module not in self.known:
            self.known.set(module, True)
            self.look(module)

    def look(self, module):
        if not tensors.may_compute() or not all(map(is_fresh, norms := norms_of(module))) or not norms:
            return
        for root, model in self.models.roots.items():
            if model.trained and type(root) is type(module) and not any(map(is_fresh, twins := norms_of(root))):
                if len(twins) == len(norms):
                    thing = self.recorder.thing("network", self.seen, type(module).__name__)
                    self.seen += 1
                    self.recorder.quantity("initial_statistics", thing, OF_A_COPY, float(len(norms)),
                                           self.sites.current(always=True))  # fmt: skip
                    return


def norms_of(module):
    return [part for part in walking.modules(module) if isinstance(part, private.BatchNorm)]


def is_fresh(layer):
    kept = dict(walking.items_of(layer, private.BUFFERS))
    mean, variance = kept.get("running_mean"), kept.get("running_var")
    return mean is not None and variance is not None and is_as_made(mean, 0.0) and is_as_made(variance, 1.0)

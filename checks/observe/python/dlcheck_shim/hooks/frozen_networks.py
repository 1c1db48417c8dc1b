"""Tells of networks that are not trained, or no longer, as teachers and feature extractors are, and run in training mode all
the same: their dropout makes what they give random, their batch normalization depends on the batch.
"""

import weakref

import torch

from ..record.identity import IdentityMap
from ..state import walking
from ..state.models import depends_on_mode
from ..torch_api import tensors
from ..torch_api.on_host import is_at_hand

MOST_PARAMETERS, MOST_ENTRIES = 4, 64  # that are compared with what they were


class FrozenNetworks:
    def __init__(self, guard, recorder, sites, models):
        self.recorder, self.sites, self.models = recorder, sites, models
        self.called = guard.isolated("network")(self.called)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.known, self.seen = IdentityMap(), 0  # by module: a Network, or None of a part and of one to be left alone

    def called(self, module):
        """In training mode, with gradients disabled, by the program itself, in a sampled step."""
        if module in self.models.modules and any(p.requires_grad for p in walking.parameters(module)):
            return
        if module not in self.known:
            self.meet(module)
        network = self.known.get(module)
        if network is None or network.step == self.recorder.step:
            return
        network.step = self.recorder.step
        if network.has_changed():
            self.known.set(module, None)
            return
        network.calls += 1
        self.recorder.quantity("frozen_in_training_mode", network.thing, float(network.calls),
                               site=self.sites.current())  # fmt: skip

    def meet(self, module):
        parts = list(walking.modules(module))
        for part in parts:
            self.known.set(part, None)
        depends = [part for part in parts if part.training and depends_on_mode(part)]
        parameters = [p for p in walking.parameters(module) if tensors.is_readable(p) and is_at_hand(p)]
        if depends and parameters and tensors.may_compute():
            thing = self.recorder.thing("network", self.seen, type(module).__name__)
            self.seen += 1
            self.known.set(module, Network(thing, parameters))


class Network:
    def __init__(self, thing, parameters):
        self.thing, self.step, self.calls = thing, -1, 0
        self.parameters = [weakref.ref(p) for p in parameters[:MOST_PARAMETERS]]  # none is kept alive
        self.before = self.entries()

    def entries(self):
        with tensors.unrecorded():
            alive = [reference() for reference in self.parameters]
            return [p.detach().reshape(-1)[:MOST_ENTRIES].clone() for p in alive if p is not None]

    def has_changed(self):
        now = self.entries()
        return len(now) != len(self.before) or not all(map(torch.equal, self.before, now))

"""Tells of models that were trained before and now only give others their targets, in training mode and with
gradients that no backward reaches. FrozenNetworks has those that are called without gradients.
"""

import weakref

from ..record.identity import IdentityMap
from ..state import walking
from ..state.models import depends_on_mode
from ..torch_api import private, tensors
from ..torch_api.on_host import is_at_hand
from .frozen_networks import Network
from .unreached_passes import nodes_of

FEWEST_STEPS = 64  # without a change of its weights: some optimizers of a program step less often than others
MOST_GRADIENTS = 8


class DetachedNetworks:
    def __init__(self, guard, recorder, sites, forwards):
        self.recorder, self.sites, self.forwards = recorder, sites, forwards
        self.gave, self.reached = guard.isolated("network")(self.gave), guard.isolated("network")(self.reached)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.known = IdentityMap()  # by module: what it was when its weights changed last; None of one to be left alone
        self.asked = {}  # since the last backward, by number of a module: references, its gradients then, and the line
        self.seen = 0

    def subscribe(self, moments):
        moments.forward_gave.append(self.gave)
        moments.sampled_backward_ended.append(self.reached)

    def gave(self, model, output):
        """A model in training mode was called, with gradients."""
        module = self.forwards.root()
        if not self.recorder.sampled or module is None or not tensors.may_compute() or model.sharded:
            return
        if module not in self.known:
            depends = any(part.training and depends_on_mode(part) for part in walking.modules(module))
            self.known.set(module, Unchanged(module, self.recorder.step) if depends else None)
        known = self.known.get(module)
        if known is None or known.changes(module, self.recorder.step):
            return
        if id(module) in self.asked:
            return
        leaves = [p for p in walking.parameters(module) if p.requires_grad][:MOST_GRADIENTS]
        if nodes_of(output) and not leaves:
            return  # the gradient goes on to what its inputs were made of
        references = [weakref.ref(leaf) for leaf in leaves]  # nothing is kept alive
        self.asked[id(module)] = (weakref.ref(module), known, references, gradients_of(references), self.sites.current())

    def reached(self):
        asked, self.asked = self.asked, {}
        for reference, known, leaves, before, site in asked.values():
            module = reference()
            if module is None:
                continue
            if gradients_of(leaves) != before:
                known.begin(module, self.recorder.step)
            elif self.recorder.step - known.since >= FEWEST_STEPS and not known.network.has_changed():
                if known.network.thing == 0:
                    known.network.thing = self.recorder.thing("network", self.seen, type(module).__name__)
                    self.seen += 1
                known.network.calls += 1
                self.recorder.quantity("frozen_in_training_mode", known.network.thing, float(known.network.calls), site=site)


class Unchanged:
    def __init__(self, module, step):
        self.begin(module, step)

    def begin(self, module, step):
        parameters = [p for p in walking.parameters(module) if tensors.is_readable(p) and is_at_hand(p)]
        self.writes, self.since, self.network = writes_to(module), step, Network(0, parameters)

    def changes(self, module, step):
        """Whether anything was written to its weights since; then all begins anew."""
        if self.writes == writes_to(module):
            return False
        self.begin(module, step)
        return True


def writes_to(module):
    return sum(private.version_of(p) for p in walking.parameters(module) if not p.is_inference())


def gradients_of(references):
    """Which object the gradient of each is, and how often it was written to."""
    gradients = [getattr(reference(), "grad", None) for reference in references]
    return [None if gradient is None else (id(gradient), private.version_of(gradient)) for gradient in gradients]

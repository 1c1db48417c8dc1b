"""Finds a model whose optimizer goes on from a file while the weights of the file went into another object of the same
class, as into one that is built for the loading alone.
"""

from ..record.identity import IdentityMap
from ..state import walking
from ..state.optimizers import parameters_of
from ..torch_api import tensors

MOST_LOADS = 16
CHANGED = 1e-3  # relative difference of two norms


class MisplacedWeights:
    def __init__(self, recorder):
        self.recorder = recorder
        self.loads = []  # of models: class, shapes by name, and norms of what was put in
        self.restored = IdentityMap()  # optimizers

    def put_into_model(self, module, named, norms):
        if norms is not None and len(self.loads) < MOST_LOADS:
            self.loads.append((type(module), shapes_of(named), norms))

    def put_into_optimizer(self, optimizer):
        self.restored.set(optimizer, True)

    def look(self, root, model):
        """At the first forward of a model that no state was put into."""
        if not self.loads or not tensors.may_compute() or not self.optimizer_of(root):
            return
        named = {name: p for name, p in walking.named_parameters(root)
                 if tensors.is_plain(p) and p.is_floating_point() and p.numel()}  # fmt: skip
        for kind, shapes, before in self.loads:
            if kind is type(root) and shapes == shapes_of(named):
                self.compare(model, list(named.values()), before)
                return

    def optimizer_of(self, root):
        own = {id(p) for p in walking.parameters(root)}
        return any(id(p) in own for optimizer, _ in self.restored.items() for p in parameters_of(optimizer))

    def compare(self, model, parameters, before):
        if any(p.device != before.device for p in parameters):
            return
        with tensors.unrecorded():
            norms = tensors.norms([p.detach() for p in parameters])
            changed = ((norms - before).abs() > CHANGED * before.abs()).double().mean()
        self.recorder.transfer.add(changed.reshape(1), lambda share: self.tell(model, share[0]))

    def tell(self, model, share):
        """Weights that were put there by hand are those of the file."""
        if share > 0.5:
            self.recorder.attribute(model.thing, "restored_elsewhere", "1")


def shapes_of(named):
    return [(name, tuple(parameter.shape)) for name, parameter in named.items()]

"""What a model computes with and does not know as its own: layers in a plain list, tensors that were never
made parameters.

Only what shows that it was forgotten counts: it is in no optimizer, it has a gradient as a step consumes
the others, and at the next look it is as it was. Whatever is moved by hand, or replaced, is left alone.
"""

import weakref

import torch

from ..record.identity import IdentityMap
from ..torch_api import private, tensors
from . import walking

MOST_RAN = 256  # layers of no model that are remembered
MOST_HELD = 64  # elements of a list that are looked at
MOST_ELEMENTS = 1 << 20  # of a tensor that is compared
BUILT = 8  # layers of one class, all but the last of them gone, that were built in forwards
OWN = frozenset(vars(torch.nn.Module()))


class Unregistered:
    def __init__(self):
        self.ran, self.count = IdentityMap(), 0
        self.before = IdentityMap()  # by tensor: what it held at the last look
        self.met = {}  # by class: references to the layers with parameters that ran

    def runs(self, module):
        """A module that no model has ran below one. True when it is clear that those of its class are built
        in forwards, and left behind."""
        if self.count >= MOST_RAN:
            return False
        self.count += 1
        self.ran.set(module, True)
        if not walking.items_of(module, private.PARAMETERS):
            return False
        met = self.met.setdefault(type(module), [])
        met.append(weakref.ref(module))
        return len(met) == BUILT and all(reference() is None for reference in met[:-1])

    def forgotten(self, root, is_known):
        """Pairs of a name and a tensor below `root`; `is_known` says of which ones nothing is asked."""
        found = []
        for name, tensor in self.held_by(root):
            if is_known(tensor) or not is_trained(tensor):
                continue
            before = self.before.get(tensor)
            with tensors.unrecorded():
                if before is None:
                    self.before.set(tensor, tensor.detach().clone())
                elif torch.equal(before, tensor.detach()):
                    found.append((name, tensor))
                else:
                    self.before.set(tensor, MOVED)
        return found

    def held_by(self, root):
        for full, module in walking.named_modules(root):
            for key, value in list(vars(module).items()):
                if key not in OWN:
                    yield from self.held_in(f"{full}.{key}".lstrip("."), value)

    def held_in(self, place, value):
        if isinstance(value, torch.Tensor):
            yield place, value
        elif type(value) in (list, tuple):
            for index, element in enumerate(value[:MOST_HELD]):
                yield from self.held_at(f"{place}[{index}]", element)
        elif type(value) is dict:
            for key, element in list(value.items())[:MOST_HELD]:
                yield from self.held_at(f"{place}[{shown(key)}]", element)

    def held_at(self, place, element):
        if isinstance(element, torch.Tensor):
            yield place, element
        elif isinstance(element, torch.nn.Module) and element in self.ran:
            for name, parameter in walking.named_parameters(element):
                yield f"{place}.{name}", parameter


MOVED = torch.empty(0)


def shown(key):
    """A key as it is written in a program; of one that is more than a word or a number, its class."""
    return repr(key) if type(key) in (str, int, float, bool, bytes, type(None)) else type(key).__name__


def is_trained(tensor):
    if not tensors.is_plain(tensor) or not tensor.is_leaf or not tensor.requires_grad:
        return False
    return tensor.grad is not None and 0 < tensor.numel() <= MOST_ELEMENTS

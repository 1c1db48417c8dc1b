"""A copy of a model in evaluation mode, on which inputs are tried; nothing of the program is touched but
the random generators, and the modes of a model that has no copies, which are put back."""

import copy
import random
import sys

import torch

from .capture import mapped


class Bench:
    def __init__(self, module):
        """Raises what copying the module raises."""
        self.modes = []  # of a module that has no copies, and is tried itself
        if is_sharded(module):
            self.modes = [(part, part.training) for part in module.modules()]
        self.module = (module if self.modes else copy.deepcopy(module)).eval()
        self.last = None  # outputs of the evaluation before

    def put_back(self):
        for part, training in self.modes:
            part.training = training

    def outputs(self, arguments, look=None):
        """The floating-point tensors that the model gives for (args, kwargs), in their order. `look`
        is called with the name of each module, its inputs and its outputs, as it ends."""
        args, kwargs = arguments
        hooks = [] if look is None else [
            part.register_forward_hook(lambda _, given, made, name=name: look(name, given, made))
            for name, part in self.module.named_modules()
        ]
        try:
            with torch.no_grad():
                return floating(self.module(*args, **kwargs))
        finally:
            for hook in hooks:
                hook.remove()


def is_sharded(module):
    """Whether blocks of it are spread by fully_shard."""
    home = sys.modules.get("torch.distributed.fsdp")
    kind = getattr(home, "FSDPModule", None)
    return kind is not None and any(isinstance(part, kind) for part in module.modules())


def floating(value):
    """The strided floating-point tensors in a nest of outputs."""
    found = []

    def keep(tensor):
        if tensor.is_floating_point() and tensor.layout is torch.strided:
            found.append(tensor.detach())
        return tensor

    mapped(plain(value), keep)
    return found


def plain(value):
    """Output classes of libraries are dictionaries or have fields; both are looked into."""
    if hasattr(value, "to_tuple"):
        return value.to_tuple()
    return dict(vars(value)) if hasattr(value, "__dataclass_fields__") else value


def distance(one, other):
    """How far `other` is from `one`, of the norm of `one`; infinite where only one is finite."""
    one, other = one.double(), other.double()
    size = one.norm().item()
    moved = (other - one).norm().item()
    if moved != moved:
        return 0.0 if torch.equal(one.isfinite(), other.isfinite()) else float("inf")
    return moved / size if size else float(moved > 0)


class Randomness:
    """The generators of the process as they were, put back as often as asked."""

    def __init__(self):
        self.torch, self.python = torch.get_rng_state(), random.getstate()
        self.devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        self.numpy = sys.modules.get("numpy")
        self.numpy_state = self.numpy.random.get_state() if self.numpy else None

    def equals(self, other):
        if self.numpy and other.numpy and repr(self.numpy_state) != repr(other.numpy_state):
            return False
        devices = all(map(torch.equal, self.devices, other.devices))
        return devices and torch.equal(self.torch, other.torch) and self.python == other.python

    def restore(self):
        torch.set_rng_state(self.torch)
        random.setstate(self.python)
        if self.devices:
            torch.cuda.set_rng_state_all(self.devices)
        if self.numpy:
            self.numpy.random.set_state(self.numpy_state)

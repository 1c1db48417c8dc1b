"""What this version of torch can do: every name that is not in all versions from 2.1 on is looked up
here or in `private`, once.
"""

import inspect
import re

import torch

from . import private

OLDEST = (2, 1)

is_compiling, tracing_state = private.is_compiling, private.tracing_state

# Public names that a part of the probe cannot do without; where one is missing, the parts say less.
WANTED = ("autograd.graph.Node", "optim.swa_utils.AveragedModel")


def version():
    return tuple(int(n) for n in re.findall(r"\d+", torch.__version__)[:2])


def unavailable():
    """The names, of WANTED and private ones, that this version does not have."""
    private_names = [name for name, value in private.NAMES.items() if value is None]
    return [name for name in WANTED if private.found(name) is None] + private_names


def register_forward_hook(hook):
    """Registers a global `hook(module, args, kwargs, output)`; before version 2.2 without the named
    arguments."""
    register = torch.nn.modules.module.register_module_forward_hook
    if "with_kwargs" in inspect.signature(register).parameters:
        return register(hook, with_kwargs=True)
    return register(lambda module, args, output: hook(module, args, {}, output))


def scaler_classes():
    """The loss scalers that have methods of their own; older versions have one for each device."""
    found = [getattr(torch.amp, "GradScaler", None), torch.cuda.amp.GradScaler]
    return [c for i, c in enumerate(found) if c and c not in found[:i] and "scale" in vars(c)]


def in_autocast():
    """Whether operations run in autocast on some device."""
    return any(map(is_in_autocast, ("cuda", "cpu")))


def is_in_autocast(device):
    try:
        return torch.is_autocast_enabled(device)
    except TypeError:  # before version 2.4
        return torch.is_autocast_enabled() if device == "cuda" else torch.is_autocast_cpu_enabled()

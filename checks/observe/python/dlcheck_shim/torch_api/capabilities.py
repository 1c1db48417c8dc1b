"""What this version of torch can do: every name that is not in all versions from 2.1 on is looked up
here, once.
"""

import inspect
import re

import torch

OLDEST = (2, 1)

# Before version 2.3 under another name.
is_compiling = getattr(torch.compiler, "is_compiling", None) or torch._utils.is_compiling

# Not none while torch.jit.trace records: what the probe read of a shape would become a part of it.
tracing_state = torch._C._get_tracing_state

# Names that a part of the probe cannot do without; where one is missing, the parts say less.
WANTED = (
    "_C._current_graph_task_id",
    "_C._functorch.is_functorch_wrapped_tensor",
    "_C._len_torch_dispatch_stack",
    "autograd.graph.Node",
    "optim.swa_utils.AveragedModel",
    "utils.data._utils.fetch._MapDatasetFetcher",
    "nn.modules.module._global_forward_hooks",
)


def version():
    return tuple(int(n) for n in re.findall(r"\d+", torch.__version__)[:2])


def unavailable():
    """The names of WANTED that this version has not."""
    return [name for name in WANTED if found(name) is None]


def found(name):
    value = torch
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


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

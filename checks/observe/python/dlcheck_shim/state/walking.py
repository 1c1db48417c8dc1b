"""The parts of a model, as torch's own methods would give them, without a call of any: a program may have
put methods of its own in their places, in a class or in all, which count, hide or fail."""

import torch

from ..torch_api import private
from ..torch_api.attributes import attribute


def named_modules(root, once=True):
    """Pairs of a name and a module, in the order of torch; where not `once`, by each of its names."""
    met, waiting = {}, [("", root, None)]  # what was met is kept alive behind its number
    while waiting:
        name, module, above = waiting.pop()
        if id(module) in met and (once or is_below(module, above)):
            continue
        met[id(module)] = module
        yield name, module
        held = items_of(module, private.MODULES)
        waiting += [(f"{name}.{key}" if name else key, part, (module, above)) for key, part in reversed(held)]


def is_below(module, above):
    """Whether a module is among those that it is held by."""
    while above is not None:
        if above[0] is module:
            return True
        above = above[1]
    return False


def named_tensors(root, table, once):
    met = {}
    for prefix, module in named_modules(root, once=once):
        for name, tensor in items_of(module, table):
            if not once or id(tensor) not in met:
                met[id(tensor)] = tensor
                yield f"{prefix}.{name}" if prefix else name, tensor


def items_of(module, table):
    if isinstance(module, torch.jit.ScriptModule):  # traced, it has the tables of another
        module = attribute(module, private.TRACED, module)
    return [(name, value) for name, value in attribute(module, table, {}).items() if value is not None]


def saved_buffers(module):
    """The module's own buffers that a state of it holds."""
    passing = attribute(module, private.UNSAVED, ())
    return [buffer for name, buffer in items_of(module, private.BUFFERS) if name not in passing]


def modules(root):
    return (module for _, module in named_modules(root))


def children(root):
    return (module for _, module in items_of(root, private.MODULES))


def named_parameters(root, once=True):
    return named_tensors(root, private.PARAMETERS, once)


def parameters(root):
    return (parameter for _, parameter in named_parameters(root))


def named_buffers(root):
    return named_tensors(root, private.BUFFERS, True)

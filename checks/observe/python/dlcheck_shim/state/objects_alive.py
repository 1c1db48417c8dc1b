"""Objects of the program by their class, wherever it keeps them. The variables of its functions are not read: that
would change what its own locals() gave it, and keep alive what it lets go.

A look asks the collector of Python for what refers to a class, as each instance does: tens of milliseconds, so only
where little else can tell, and a few times in a run. All objects are never held, not even for a moment: another thread
that fills a tuple would find that it belongs to somebody else, and raise.
"""

import gc

import torch

from . import walking


def alive_of(base):
    """Instances of a class, and of those that come from it."""
    kinds = classes_from(base)
    return [thing for thing in gc.get_referrers(*kinds) if type(thing) in kinds]


def tensors_alive():
    return [thing for thing in gc.get_referrers(torch.Tensor) if type(thing) is torch.Tensor]


def modules_around(parts):
    """By number of each part, the modules that have it somewhere below them, but for torch's own containers."""
    above = {}  # by number of a module, those that hold it
    for thing in gc.get_referrers(*classes_from(torch.nn.Module)):
        if issubclass(type(thing), torch.nn.Module):
            for child in walking.children(thing):
                above.setdefault(id(child), []).append(thing)
    return {id(part): [m for m in ancestors(part, above) if not is_of_torch(m)] for part in parts}


def classes_from(base):
    """A class and all that come from it."""
    found, waiting = {base}, [base]
    while waiting:
        new = set(type.__subclasses__(waiting.pop())) - found
        found |= new
        waiting += new
    return found


def is_of_torch(module):
    home = type(module).__module__
    return isinstance(home, str) and home.startswith("torch.")


def ancestors(part, above):
    found, waiting = {}, [part]
    while waiting:
        for module in above.get(id(waiting.pop()), ()):
            if id(module) not in found:
                found[id(module)] = module
                waiting.append(module)
    return list(found.values())

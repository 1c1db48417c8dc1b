"""The module around a part that the program calls by itself: `self.layers[0](x)` in a method other than forward().
Torch does not tell it, as a call of a method is no call of the module.
"""

import sys
import weakref

import torch

from ..record.sites import OWN, kind_of
from . import walking

MOST_FRAMES = 32


def enclosing(module):
    """A weak reference to the outermost module that has this one as a part, of those whose methods are at work; None
    if there is none."""
    frame, found = sys._getframe(1), None
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        code = frame.f_code
        if code.co_argcount and kind_of(code.co_filename) == OWN:
            owner = frame.f_locals.get(code.co_varnames[0])
            if issubclass(type(owner), torch.nn.Module) and owner is not module:
                found = owner if any(part is module for part in walking.modules(owner)) else found
        frame = frame.f_back
    return None if found is None else weakref.ref(found)

"""Puts a function of the probe around a function of the program's libraries."""

import functools
import threading
import types

from .capabilities import is_compiling


def replace(owners, name, make):
    """Sets attribute `name` of each owner to make(original), which keeps the original's name.

    Silently leaves alone what this version of the library does not have. TorchScript, which cannot
    compile a stand-in, is pointed to the original.
    """
    made = {}  # by what they stand for: one stand-in wherever the same function is found
    for owner in owners:
        original = getattr(owner, name, None)
        if original is None:
            continue
        stand_in = made.get(id(original))
        if stand_in is None:
            stand_in = made[id(original)] = functools.wraps(original)(make(original))
            setattr(stand_in, "__script_if_tracing_wrapper", True)
            setattr(stand_in, "__original_fn", original)
        setattr(owner, name, stand_in)
        if isinstance(owner, types.ModuleType):  # as pickle will look it up
            stand_in.__module__, stand_in.__qualname__ = owner.__name__, name


def followed_by(observe):
    """A stand-in that calls the original and then `observe(result, args, kwargs)`.

    Calls from compiled code, and calls that the original makes to itself, are passed through.
    """
    return around(None, observe)


def preceded_by(observe):
    """A stand-in that calls `observe(args, kwargs)` and then the original; else as `followed_by`."""
    return around(observe, None)


def around(before, after):
    inside = threading.local()  # has `.it` while this thread is in the original

    def make(original):
        def stand_in(*args, **kwargs):
            if is_compiling() or getattr(inside, "it", False):
                return original(*args, **kwargs)
            if before is not None:
                before(args, kwargs)
            inside.it = True
            try:
                result = original(*args, **kwargs)
            finally:
                inside.it = False
            if after is not None:
                after(result, args, kwargs)
            return result

        return stand_in

    return make

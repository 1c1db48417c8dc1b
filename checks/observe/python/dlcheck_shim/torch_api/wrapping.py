"""Puts calls of the probe around a function of the program's libraries: into the function itself where
that can be, else by another function in its place."""

import functools
import sys
import threading
import types

from . import in_place
from .capabilities import is_compiling

# Frames of such files are passed over where a warning looks for the line that it is about.
HIDDEN = "<dlcheck, passed over as importlib._bootstrap is>"
ABSENT = object()
standing = []  # all that was put into the libraries, in its order: `on()` puts it in again, `off()` takes it out


def replace(owners, name, make):
    """Sets attribute `name` of each owner to make(original), which keeps the original's name; an Around
    goes into the original itself, if it is written in Python.

    Silently leaves alone what this version of the library does not have. TorchScript, which cannot
    compile a stand-in, is pointed to the original.
    """
    made = {}  # by what they stand for: one stand-in wherever the same function is found
    for owner in owners:
        original = getattr(owner, name, None)
        if original is None:
            continue
        stand_in = made.get(id(original))
        if stand_in is None and isinstance(make, Around) and put_into(original, make):
            stand_in = made[id(original)] = original
        if stand_in is original:
            continue
        if stand_in is None:
            stand_in = made[id(original)] = functools.wraps(original)(make(original))
            setattr(stand_in, "__script_if_tracing_wrapper", True)
            setattr(stand_in, "__original_fn", original)
        keep(Switch(owner, name, stand_in)).on()
        if isinstance(owner, types.ModuleType):  # as pickle will look it up
            stand_in.__module__, stand_in.__qualname__ = owner.__name__, name


def switch_of(owner, name):
    """What takes a function that was replaced out, `off()`, and puts it in again, `on()`."""
    function = vars(owner)[name]
    switches = (s for s in standing if isinstance(s, Switch) and s.owner is owner and s.stand_in is function)
    return in_place.places.get(in_place.innermost(function)) or next(switches)


def put_into(function, around):
    """As `in_place.put_into`, and taken out with all else."""
    place = in_place.put_into(function, around)
    return place if place is None else keep(place)


def tell_lengths(function, told):
    """As `in_place.tell_lengths`, and taken out with all else."""
    keep(in_place.tell_lengths(function, told))


def register(registers, hook):
    """Registers a hook with torch, by the function of torch that gives a handle."""
    keep(Registered(registers, hook)).on()


def keep(switch):
    if switch is not None and switch not in standing:
        standing.append(switch)
    return switch


def take_all_out():
    """The libraries are as they were; what a program kept of them meanwhile calls the originals."""
    for switch in reversed(standing):
        switch.off()


def put_all_in():
    for switch in standing:
        switch.on()


class Switch:
    """A function in the place of another one."""

    def __init__(self, owner, name, stand_in):
        self.owner, self.name, self.stand_in = owner, name, stand_in
        self.there = vars(owner).get(name, ABSENT)  # absent: a class has it from its base

    def on(self):
        self.change(self.there, self.stand_in)

    def off(self):
        self.change(self.stand_in, self.there)

    def change(self, from_this, to_that):
        # Unless the program put another one there.
        if vars(self.owner).get(self.name, ABSENT) is not from_this:
            return
        if to_that is ABSENT:
            delattr(self.owner, self.name)
        else:
            setattr(self.owner, self.name, to_that)


class Registered:
    """A hook that torch calls."""

    def __init__(self, registers, hook):
        self.registers, self.hook, self.handle = registers, hook, None

    def on(self):
        if self.handle is None:
            self.handle = self.registers(self.hook)

    def off(self):
        if self.handle is not None:
            self.handle.remove()
            self.handle = None


class Around:
    """What is done around the calls of a function.

    `before(args, kwargs)` gives a token; None where nothing else is to be done. The others may be left out:
    a function is called for each that is there, at every call. `after(token, result)`
    comes as the call returns, `ended(token)` after it or as it raises. `first(token, value)` gives what
    the function is to have for its first argument, if it is given by position.
    """

    def __init__(self, before, after=None, ended=None, first=None):
        self.before, self.after, self.ended, self.first = before, after, ended, first

    def __call__(self, original):
        """A function to stand in for the original."""

        def stand_in(*args, **kwargs):
            token = self.before(args, kwargs)
            if token is None:
                return original(*args, **kwargs)
            if args and self.first:
                args = (self.first(token, args[0]), *args[1:])
            try:
                result = original(*args, **kwargs)
                if self.after:
                    self.after(token, result)
            finally:
                if self.ended:
                    self.ended(token)
            return result

        return stand_in


def hidden(code):
    """The same code, and all that is written inside it, as if it stood in another file."""
    constants = [hidden(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return code.replace(co_filename=HIDDEN, co_consts=tuple(constants))


Around.__call__.__code__ = hidden(Around.__call__.__code__)
STAND_IN = next(c for c in Around.__call__.__code__.co_consts if isinstance(c, types.CodeType))


def followed_by(observe):
    """Calls `observe(result, args, kwargs)` after the original.

    Calls from compiled code, and calls that the original makes to itself, are passed through.
    """
    return around(None, observe)


def preceded_by(observe):
    """Calls `observe(args, kwargs)` before the original; else as `followed_by`."""
    return around(observe, None)


def around(observe_before, observe_after):
    def before(args, kwargs):
        if observe_before is not None:
            observe_before(args, kwargs)
        return args, kwargs

    return outermost(before, observe_after and (lambda token, result: observe_after(result, *token)))


def outermost(before, after=None, ended=None):
    """An Around that is not told of calls from compiled code, nor of calls that the original makes to itself: torch
    makes one where a program has set a default device or another function mode."""
    inside = threading.local()  # has `.it` while this thread is in the original

    def begins(args, kwargs):
        if is_compiling() or getattr(inside, "it", False) and is_called_again(made, sys._getframe(1)):
            return None
        token = before(args, kwargs)
        inside.it = token is not None
        return token

    def returned(token, result):
        inside.it = False
        if after is not None:
            after(token, result)

    def finished(token):
        inside.it = False
        if ended is not None:
            ended(token)

    made = Around(begins, returned, finished)
    return made


def is_called_again(around, frame):
    """Whether more than one call that this Around is told of is under way above the frame. A signal handler
    of the program that raised between two lines may have left a mark where there is none."""
    count = 0
    while frame is not None and count < 2:
        place = in_place.place_of(frame.f_code)
        if place is not None:
            count += around in place.arounds
        elif frame.f_code is STAND_IN:
            count += frame.f_locals.get("self") is around
        frame = frame.f_back
    return count > 1


def only_before(observe):
    """Calls `observe(args, kwargs)` before each call of the original, compiled or not."""

    def before(args, kwargs):
        observe(args, kwargs)

    return Around(before)

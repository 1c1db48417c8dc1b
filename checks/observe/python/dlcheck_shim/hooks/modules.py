"""What is told of every call of a module, and when: during sampled steps, and from whatever begins an
evaluation to the end of the next step.

The calls of the probe stand in torch.nn.Module's own code, where they take no frame and no line of a
traceback, and no table of hooks shows them. Code that torch compiles takes such calls apart, so once the
program asks for any they become global hooks, and stay for good: when hooks come and go it is compiled
again.
"""

import sys
import types

import torch

from ..torch_api import private
from ..torch_api.capabilities import register_forward_hook
from ..torch_api.wrapping import Around, only_before, put_into, replace


class ModuleHooks:
    def __init__(self, forwards):
        self.forwards = forwards
        self.place = None  # in the code of torch
        self.tables = []  # pairs of a table of torch's and our entries in it
        self.there, self.compiles = True, False

    def install(self):
        self.place = put_into(getattr(torch.nn.Module, private.CALL), Around(self.enters, self.forwards.returned))
        if self.place is None:
            self.hang_hooks()
        # torch warns that hooks see a compiled module twice; the program did not ask for ours.
        replace([torch.nn.modules.module], private.ANY_HOOK, self.leaving_out_ours)
        pinning = only_before(self.pins)
        replace([torch], "compile", pinning)
        replace([torch.nn.Module], "compile", pinning)
        replace([torch.export], "export", pinning)  # compiles, in older versions
        for mode in (torch.no_grad, torch.inference_mode):
            replace([mode], "__enter__", only_before(lambda *_: self.there or self.wake()))

    def subscribe(self, moments):
        moments.mode_changed.append(self.wake)
        moments.pass_begins.append(self.wake)  # over a loader: an evaluation need not change the mode
        moments.begins_anew.append(self.wake)
        moments.stepped.append(lambda: self.end_step(self.forwards.recorder.sampled))

    def enters(self, args, kwargs):
        forwards = self.forwards
        if not forwards.root_number or id(args[0]) == forwards.root_number:
            forwards.before(args[0], args[1:], kwargs)
        if forwards.root_number:
            return args[0], args[1:], kwargs, forwards.scan.begin()
        return (args[0], (), {}, None) if forwards.strangers.number == id(args[0]) else None

    def hang_hooks(self):
        home = torch.nn.modules.module
        before = home.register_module_forward_pre_hook(self.forwards.before)
        after = register_forward_hook(self.forwards.after)
        found = [getattr(home, name, None) for name in private.HOOK_TABLES]
        if all(isinstance(table, dict) for table in found):
            numbers = (before.id, after.id)
            self.tables = [(t, {n: t[n] for n in numbers if n in t}) for t in found]
        self.there = True

    def leaving_out_ours(self, original):
        def has_any():
            if not self.tables:
                return original()
            there = self.there
            self.take_out()
            try:
                return bool(original())  # the tables themselves, not copies
            finally:
                if there:
                    self.wake()

        return has_any

    # The program may be interrupted anywhere by a signal of its own: a hook never stands in a table
    # without its entry in the one of hooks that take keywords, and `there` is never true too early.

    def take_out(self):
        self.there = False
        if self.place is not None:
            self.place.off()
        for table, entries in reversed(self.tables):
            for number in entries:
                table.pop(number, None)

    def pins(self, args, kwargs):
        if not self.compiles:
            self.compiles = True
            if self.place is not None:
                self.place.off()
                self.place = None
                self.hang_hooks()
            self.wake()
            leave_uncompiled()

    def wake(self):
        """Until the next step ends."""
        if self.there:
            return
        if self.place is not None:
            self.place.on()
        for table, entries in self.tables:
            table.update(entries)
        self.there = True

    def end_step(self, sampled):
        """`sampled`: whether the next step is."""
        if sampled or self.compiles:
            self.wake()
        elif self.there and (self.place or self.tables):
            self.take_out()


def leave_uncompiled():
    """Tells torch's compiler to pass over every function of this package: it would count them as frames
    of the program. What a compiled function calls is still traced through."""
    skip = private.skipper_of_code()
    if skip is None:
        return
    for name, module in list(sys.modules.items()):
        if package_of(name) == package_of(__name__):
            for function in functions_of(module):
                for code in codes_of(getattr(function, "__code__", None)):
                    skip(code)


def package_of(name):
    return name.partition(".")[0]


def functions_of(module):
    """The functions that a module defines, also in its classes and their properties: none that it imports."""
    for value in list(vars(module).values()):
        if package_of(str(getattr(value, "__module__", ""))) != package_of(__name__):
            continue
        yield value
        for member in vars(value).values() if isinstance(value, type) else ():
            yield getattr(member, "__func__", member)  # of a static or a class method
            if isinstance(member, property):
                yield from (member.fget, member.fset)


def codes_of(code):
    """A function's code and that of all functions written inside it."""
    if isinstance(code, types.CodeType):
        yield code
        for constant in code.co_consts:
            yield from codes_of(constant)

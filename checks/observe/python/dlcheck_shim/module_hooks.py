"""The global module hooks, and when they are in place: during sampled steps, and from whatever begins
an evaluation to the end of the next step.

A hook costs microseconds at every call of every module. Code that torch compiles is compiled again
when hooks come and go, so they stay for good once the program asks for any.
"""

import sys
import types

import torch

from .capabilities import register_forward_hook
from .wrapping import replace


class ModuleHooks:
    def __init__(self, forwards):
        self.forwards = forwards
        self.tables = []  # pairs of a table of torch's and our entries in it
        self.there, self.compiles = True, False

    def install(self):
        home = torch.nn.modules.module
        before = home.register_module_forward_pre_hook(self.forwards.before)
        after = register_forward_hook(self.forwards.after)
        # torch warns that hooks see a compiled module twice; the program did not ask for ours.
        replace([home], "_has_any_global_hook", self.leaving_out_ours)
        names = ("_global_forward_hooks_with_kwargs", "_global_forward_hooks",
                 "_global_forward_pre_hooks")  # fmt: skip
        found = [getattr(home, name, None) for name in names]
        if all(isinstance(table, dict) for table in found):
            numbers = (before.id, after.id)
            self.tables = [(t, {n: t[n] for n in numbers if n in t}) for t in found]
        replace([torch], "compile", self.pinning)
        replace([torch.nn.Module], "compile", self.pinning)
        replace([torch.export], "export", self.pinning)  # compiles, in older versions
        for mode in (torch.no_grad, torch.inference_mode):
            replace([mode], "__enter__", self.waking)

    def leaving_out_ours(self, original):
        def has_any():
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
        for table, entries in reversed(self.tables):
            for number in entries:
                table.pop(number, None)

    def pinning(self, original):
        def compile(*args, **kwargs):
            if not self.compiles:
                self.compiles = True
                self.wake()
                leave_uncompiled()
            return original(*args, **kwargs)

        return compile

    def waking(self, original):
        def enter(*args, **kwargs):
            if not self.there:
                self.wake()
            return original(*args, **kwargs)

        return enter

    def wake(self):
        """Until the next step ends."""
        if self.there:
            return
        for table, entries in self.tables:
            table.update(entries)
        self.there = True

    def end_step(self, sampled):
        """`sampled`: whether the next step is."""
        if sampled or self.compiles:
            self.wake()
        elif self.there and self.tables:
            self.take_out()


def leave_uncompiled():
    """Tells torch's compiler to pass over every function of this package: it would count them as frames
    of the program. What a compiled function calls is still traced through."""
    skip = skipping()
    if skip is None:
        return
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == __package__:
            for function in functions_of(module):
                for code in codes_of(getattr(function, "__code__", None)):
                    skip(code)


def functions_of(module):
    """The functions of a module, of its classes, and of their properties."""
    for value in list(vars(module).values()):
        yield value
        for member in vars(value).values() if isinstance(value, type) else ():
            yield getattr(member, "__func__", member)  # of a static or a class method
            if isinstance(member, property):
                yield from (member.fget, member.fset)


def skipping():
    """What tells the compiler to pass over a code object; none in a version that has no such call."""
    frames = torch._C._dynamo.eval_frame
    if hasattr(frames, "skip_code"):  # before version 2.7
        return frames.skip_code
    if not hasattr(frames, "set_code_exec_strategy"):
        return None
    action = frames._FrameAction
    strategy = frames._FrameExecStrategy(action.SKIP, action.DEFAULT)
    return lambda code: frames.set_code_exec_strategy(code, strategy)


def codes_of(code):
    """A function's code and that of all functions written inside it."""
    if isinstance(code, types.CodeType):
        yield code
        for constant in code.co_consts:
            yield from codes_of(constant)

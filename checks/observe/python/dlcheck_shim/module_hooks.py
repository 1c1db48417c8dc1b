"""The global module hooks, and when they are in place: during sampled steps, and from whatever begins
an evaluation to the end of the next step.

A hook costs microseconds at every call of every module. Code that torch compiles is compiled again
when hooks come and go, so they stay for good once the program asks for any.
"""

import warnings

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
        warnings.filterwarnings(
            "ignore", message="Using `torch.compile\\(module\\)` when there are global hooks"
        )
        names = ("_global_forward_pre_hooks", "_global_forward_hooks",
                 "_global_forward_hooks_with_kwargs")  # fmt: skip
        found = [getattr(home, name, None) for name in names]
        if all(isinstance(table, dict) for table in found):
            numbers = (before.id, after.id)
            self.tables = [(t, {n: t[n] for n in numbers if n in t}) for t in found]
        replace([torch], "compile", self.pinning)
        replace([torch.nn.Module], "compile", self.pinning)
        for mode in (torch.no_grad, torch.inference_mode):
            replace([mode], "__enter__", self.waking)

    def pinning(self, original):
        def compile(*args, **kwargs):
            self.compiles = True
            self.wake()
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
        self.there = True
        for table, entries in self.tables:
            table.update(entries)

    def end_step(self, sampled):
        """`sampled`: whether the next step is."""
        if sampled or self.compiles:
            self.wake()
        elif self.there and self.tables:
            self.there = False
            for table, entries in self.tables:
                for number in entries:
                    table.pop(number, None)

"""Waits for a library to be imported by the program, and then calls a function once with it."""

import importlib.util
import sys


class AfterImport:
    """A finder that finds nothing itself: it lets the others find, and adds a call at the end."""

    def __init__(self, reactions):
        """`reactions`: by module name, functions that take the module and never raise."""
        self.reactions, self.finding = reactions, set()

    def install(self):
        for name in list(self.reactions):
            if name in sys.modules:
                self.reactions.pop(name)(sys.modules[name])
        if self.reactions:
            sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        if name not in self.reactions or name in self.finding:
            return None
        self.finding.add(name)  # the others are asked next, and this one with them
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.finding.discard(name)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            react = self.reactions.pop(name, None)
            if react is not None:
                react(module)

        spec.loader.exec_module = exec_module
        return spec

"""Waits for a library to be imported by the program, and then calls a function once with it."""

import importlib.util
import sys


class AfterImport:
    """A finder that finds nothing itself: it lets the others find, and adds a call at the end."""

    def __init__(self, reactions):
        """`reactions`: by module name, functions that take the module and never raise."""
        self.reactions = reactions

    def install(self):
        for name in list(self.reactions):
            if name in sys.modules:
                self.reactions.pop(name)(sys.modules[name])
        if self.reactions:
            sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        react = self.reactions.pop(name, None)
        if react is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            react(module)

        spec.loader.exec_module = exec_module
        return spec

"""Waits for a library to be imported by the program, and then calls a function once with it."""

import sys


class AfterImport:
    """A finder that finds nothing itself: it lets those behind it find, and adds a call at the end."""

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
        if name not in self.reactions:
            return None
        spec = self.found_behind(name, path, target)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        loader = spec.loader
        execute = loader.exec_module

        def exec_module(module):
            vars(loader).pop("exec_module", None)  # the loader is as it was
            execute(module)
            react = self.reactions.pop(name, None)
            if react is not None:
                react(module)

        loader.exec_module = exec_module
        return spec

    def found_behind(self, name, path, target):
        """As the finders behind this one find it; those before it have been asked."""
        finders = list(sys.meta_path)
        here = next((place for place, finder in enumerate(finders) if finder is self), len(finders))
        behind = (finder for finder in finders[here + 1 :] if hasattr(finder, "find_spec"))
        found = (finder.find_spec(name, path, target) for finder in behind)
        return next((spec for spec in found if spec is not None), None)

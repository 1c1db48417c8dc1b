"""Where something begins to matter that must not: the innermost module whose outputs move although its inputs do not,
and its line in the program."""

from ...record.sites import OWN, kind_of
from .bench import distance

ROUNDING = 1e-6  # of the norm of what a module makes


class Places:
    """What each module on the bench was given and made, as far as it must not move: that is `kept(value)`."""

    def __init__(self, trial, kept):
        self.sites, self.kept = trial.sites, kept
        self.calls = {}  # by the name of the module: (given, made, what called it) of each call

    def look(self, name, given, made):
        self.calls.setdefault(name, []).append((self.kept(given), self.kept(made), self.sites.caller()))


def blame(trial, key, before, after, rounding):
    """Tells the name of the module in which two evaluations part, under this key. Returns the id of its line: where
    its forward begins if the program wrote it, else where it is called; 0 where that is not known."""
    name, caller = first_leak(before.calls, after.calls, rounding)
    if name is None:
        return 0
    trial.tell(key, name)
    code = getattr(type(trial.bench.module.get_submodule(name)).forward, "__code__", None)
    if code is not None and kind_of(code.co_filename) == OWN:
        return trial.sites.site(code, code.co_firstlineno)
    return trial.sites.site(*caller) if caller is not None else 0


def first_leak(before, after, rounding):
    """(name, what called it) of the module; the name of the whole model is empty, and None where there is none."""
    for name, calls in before.items():
        for (given, made, caller), (given_after, made_after, _) in zip(calls, after.get(name, ())):
            moved = [distance(a, b) > rounding for a, b in zip(made, made_after)]
            fed = [distance(a, b) > rounding for a, b in zip(given, given_after)]
            if any(moved) and not any(fed):
                return name, caller
    return None, None

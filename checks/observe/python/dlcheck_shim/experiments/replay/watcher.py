"""Looks at every operation that runs: at what it is given and at what it gives."""

import os

from ...torch_api import private
from . import numbers, operations


class Watcher(private.TorchDispatchMode):
    """Passes each operation on as it is. An operation that writes to what it is given is looked at
    before it does."""

    def __init__(self, isolated, flow, places):
        super().__init__()
        self.flow, self.places = flow, places
        self.asleep, self.process = True, os.getpid()
        self.before, self.after = isolated(self.before), isolated(self.after)

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.asleep or os.getpid() != self.process:
            return operation(*args, **kwargs)
        seen = self.before(operation, args, kwargs)
        result = operation(*args, **kwargs)
        if seen:
            self.after(operation, seen, result)
        return result

    def before(self, operation, args, kwargs):
        """(place, uses, and of each what was not finite in what it reads and its ranges, if that is
        about to be written to)."""
        place = self.places.current()
        uses = operations.uses(operation, args, kwargs)
        name = operations.name_of(operation)
        return place, [(use, self.given(use, name, place) if use.written else None) for use in uses]

    def given(self, use, name, place):
        spoilt = [tensor for tensor in use.read if not numbers.all_finite(tensor)]
        return [self.flow.of(tensor, name, place) for tensor in spoilt], numbers.ranges_of(use)

    def after(self, operation, seen, result):
        place, uses = seen
        name = operations.name_of(operation)
        for number, (use, given) in enumerate(uses):
            made = use.written + operations.given_by(result, number, len(uses))
            spoilt = {id(t): t for t in made if not numbers.all_finite(t)}
            if spoilt:
                inputs, ranges = given or self.given(use, name, place)
                for tensor in spoilt.values():
                    self.flow.add(name, place, tensor, use, inputs, ranges)

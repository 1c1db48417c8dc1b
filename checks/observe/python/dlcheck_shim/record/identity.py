"""A map from objects of the program to what the probe knows of them, by identity.

Keeps no object alive and puts nothing on it; calls neither its `==` nor its hash. What is told of an
object's end is a function written in C: in one written in Python a signal handler of the program could
run, and what it raises would be lost there.
"""

import weakref


class Numbered(weakref.ref):
    """A reference that knows the number of its object."""

    __slots__ = ("number",)

    def __new__(cls, key, react):
        self = super().__new__(cls, key, react)
        self.number = id(key)
        return self

    def __init__(self, key, react):
        super().__init__(key, react)


class IdentityMap:
    def __init__(self):
        self.entries = {}
        self.dead = []  # references whose objects ended, and whose entries may still be there

    def get(self, key, default=None):
        if self.dead:
            self.bury()
        entry = self.entries.get(id(key))
        return default if entry is None else entry[1]

    def __contains__(self, key):
        if self.dead:
            self.bury()
        return id(key) in self.entries

    def set(self, key, value):
        self.entries[id(key)] = (Numbered(key, self.dead.append), value)

    def remove(self, key):
        self.entries.pop(id(key), None)

    def bury(self):
        while self.dead:
            reference = self.dead.pop()
            entry = self.entries.get(reference.number)
            if entry is not None and entry[0] is reference:  # not of a later object in its place
                del self.entries[reference.number]

    def items(self):
        """Pairs of a living object and its value."""
        alive = ((reference(), value) for reference, value in list(self.entries.values()))
        return [(key, value) for key, value in alive if key is not None]

    def clear(self):
        self.entries.clear()

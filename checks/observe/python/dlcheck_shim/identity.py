"""A map from objects of the program to what the probe knows of them, by identity.

Keeps no object alive and puts nothing on it; calls neither its `==` nor its hash.
"""

import weakref


class IdentityMap:
    def __init__(self):
        self.entries = {}

    def get(self, key, default=None):
        entry = self.entries.get(id(key))
        return default if entry is None else entry[1]

    def __contains__(self, key):
        return id(key) in self.entries

    def set(self, key, value):
        number = id(key)
        entries = self.entries
        entries[number] = (weakref.ref(key, lambda _: entries.pop(number, None)), value)

    def items(self):
        """Pairs of a living object and its value."""
        alive = ((reference(), value) for reference, value in list(self.entries.values()))
        return [(key, value) for key, value in alive if key is not None]

    def clear(self):
        self.entries.clear()

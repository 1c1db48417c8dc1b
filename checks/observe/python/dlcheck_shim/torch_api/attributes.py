"""Attributes of objects of the program, read without a call of its `__getattr__` or `__getattribute__`."""

read_plainly = object.__getattribute__


def attribute(thing, name, default=None):
    try:
        return read_plainly(thing, name)
    except AttributeError:
        return default

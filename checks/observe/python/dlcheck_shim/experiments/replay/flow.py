"""From which values that are not finite others came: followed from storage to storage, so that views and
what a graph saved are known again. Only what is not finite is kept, and no storage of the program's
alive but of what came from elsewhere.
"""

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from ...torch_api import private
from . import numbers

# How a value came to be not finite.
BORN = "operation"  # of finite inputs
FILLED = "constant"  # the program gave the operation such a number
PASSED = "passed"  # from inputs that were not finite
GIVEN = "data"  # no operation that was looked at made it


class Value:
    """One tensor that is not finite, or a part of one, and which operation gave it."""

    def __init__(self, number, kind, operation, place, tensor, inputs=(), ranges=""):
        self.number, self.kind, self.operation, self.place = number, kind, operation, place
        self.inputs, self.ranges = list(inputs), ranges
        self.has_nan = numbers.has_nan(tensor)
        self.rows, self.shape = numbers.rows_of(tensor), tuple(tensor.shape)
        self.count, self.elements = numbers.count_of(tensor), tensor.numel()
        self.tensor = tensor if kind == GIVEN else None

    def is_meant(self):
        """True for what the program may have put in on purpose, as a mask of minus infinity."""
        if self.kind == GIVEN:
            return not self.has_nan
        if self.kind == PASSED:
            return not self.makes_nan() and all(value.is_meant() for value in self.inputs)
        return self.kind == FILLED

    def makes_nan(self):
        """True where a NaN came of what was none, as in a softmax over nothing but minus infinity."""
        return self.has_nan and not any(value.has_nan for value in self.inputs)

    def is_origin(self):
        """Of an operation: what it gave cannot be told from what it was given on purpose."""
        if self.kind == PASSED:
            return self.makes_nan() and all(value.is_meant() for value in self.inputs)
        return True


class Flow:
    def __init__(self):
        self.made = {}  # by the number of a storage, which is none other's while it is referred to
        self.count = 0

    def add(self, operation, place, tensor, use, inputs, ranges):
        """`tensor`: what an operation gave that is not finite; `inputs`: the values of those it was
        given that were not."""
        self.count += 1
        kind = PASSED if inputs else FILLED if use.fills() else BORN
        value = Value(self.count, kind, operation, place, tensor, inputs, ranges)
        if not any(keeps_rows(given, tensor) for given in use.read):
            value.rows = None
        self.keep(tensor, value)

    def of(self, tensor, operation, place):
        """The value of a tensor that is not finite, which the operation is given."""
        storage = number_of(tensor)
        if storage not in self.made:
            self.count += 1
            self.keep(tensor, Value(self.count, GIVEN, operation, place, tensor))
        return self.made[storage][1]

    def keep(self, tensor, value):
        self.made[number_of(tensor)] = (StorageWeakRef(storage_of(tensor)), value)


def keeps_rows(given, tensor):
    """True if what was given has as many rows as what was made, and they are not those of a parameter."""
    same = given.dim() > 0 and tensor.dim() > 0 and given.shape[0] == tensor.shape[0]
    return same and not isinstance(given, torch.nn.Parameter)


def storage_of(tensor):
    return (private.values_of(tensor) if tensor.is_sparse else tensor).untyped_storage()


def number_of(tensor):
    return private.address_of(storage_of(tensor))


def behind(roots):
    """All values from which those of `roots` came, themselves too, the first first."""
    found, waiting = {}, list(roots)
    while waiting:
        value = waiting.pop()
        if value.number not in found:
            found[value.number] = value
            waiting += value.inputs
    return [found[number] for number in sorted(found)]

"""What an operation reads and what it writes, as its schema says."""

import math

import torch

from ...torch_api import private

# They give memory in which anything may stand.
UNWRITTEN = {
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
    "resize_", "set_",
}  # fmt: skip
# They write all of their first argument and read none of it.
OVERWRITING = {
    "copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_",
    *(private.FOREACH + name for name in ("copy_", "zero_")),
}  # fmt: skip
PLACES = ("index", "indices", "target", "offsets")  # whole numbers that say where, not how much


class Use:
    """One operation on some tensors: of those that work on whole lists, there is one for each place."""

    def __init__(self, pairs, overwrites):
        self.read, self.written = [], []
        self.operands = []  # of what is read: tensors and numbers that the result is worked out from
        for argument, value in pairs:
            alias = argument.alias_info
            is_written = alias is not None and alias.is_write
            if is_written:
                self.written += tensors_in(value)
            if argument.is_out or is_written and overwrites:
                continue
            self.read += tensors_in(value)
            if argument.name not in PLACES:
                self.operands += tensors_in(value)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                if str(argument.type) in ("Tensor", "number", "float"):
                    self.operands.append(float(value))

    def fills(self):
        """True where the program itself gave a number that is not finite."""
        return not all(math.isfinite(x) for x in self.operands if isinstance(x, float))


def is_view(operation):
    """True where what comes out is what went in, differently arranged."""
    schema = private.schema_of(operation)
    return not schema.is_mutable and any(r.alias_info is not None for r in schema.returns)


def name_of(operation):
    """"log_" of aten::log_."""
    return private.schema_of(operation).name.rpartition("::")[2]


def uses(operation, args, kwargs):
    """What a call is about to read and write; empty where that is nothing of interest."""
    name, schema = name_of(operation), private.schema_of(operation)
    if name in UNWRITTEN or is_view(operation):
        return []
    arguments = schema.arguments
    named = {argument.name: argument for argument in arguments}
    pairs = list(zip(arguments, args)) + [(named[k], v) for k, v in kwargs.items() if k in named]
    overwrites = name in OVERWRITING
    length = places_of(name, pairs)
    if length is None:
        return [Use(pairs, overwrites)]
    return [Use([(a, at(v, place, length)) for a, v in pairs], overwrites) for place in range(length)]


def places_of(name, pairs):
    """Of an operation that treats each tensor of a list by itself, as those of optimizers: their number."""
    changes = any(a.alias_info is not None and isinstance(v, (list, tuple)) for a, v in pairs)
    if not changes and not name.startswith(private.FOREACH):
        return None
    return next((len(v) for _, v in pairs if is_list(v)), None)


def is_list(value):
    return isinstance(value, (list, tuple)) and len(value) > 0 and isinstance(value[0], torch.Tensor)


def at(value, place, length):
    return value[place] if is_list(value) and len(value) == length else value


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [item for item in value if isinstance(item, torch.Tensor)]
    return []


def given_by(result, place, count):
    """What a call gave in one place of those it had."""
    if count > 1 and isinstance(result, (list, tuple)):
        return tensors_in(result[place]) if len(result) == count else []
    return tensors_in(result)

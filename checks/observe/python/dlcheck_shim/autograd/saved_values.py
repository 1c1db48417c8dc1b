"""What the nodes of an autograd graph saved for the backward, as the least and the greatest number of each
value; no tensor is kept.
"""

import dataclasses
import math

import torch

from ..torch_api import private, tensors
from ..torch_api.on_host import is_at_hand

FINITE, INFINITE, NAN = range(3)

# What a node saves of its inputs; all else that it saves is of its own making.
INPUTS = {
    "self", "other", "input", "mat1", "mat2", "vec", "weight", "bias", "target", "exponent",
    "running_mean", "running_var", "query", "key", "value", "tensor1", "tensor2",
}  # fmt: skip
NAMES = {}  # of what nodes save, by their class
MEANS = ("MeanBackward0", "MeanBackward1", "NllLossBackward0")


@dataclasses.dataclass
class Value:
    kind: int
    low: float = math.nan
    high: float = math.nan
    # Base 2 logarithms of the greatest magnitude times the number of elements, and of the greatest
    # number that there is.
    room: float = math.inf
    most: float = 0
    elements: int = 1


def examine(tensor):
    """None where a tensor's numbers cannot be read one by one."""
    if not tensors.is_readable(tensor) or tensor.is_complex() or not is_at_hand(tensor):
        return None
    if tensor.numel() == 0:
        return Value(FINITE, room=0, most=math.inf, elements=0)
    low, high = (float(n) for n in torch.aminmax(tensor.detach()))
    if math.isnan(low) or math.isnan(high):
        return Value(NAN)
    if math.isinf(low) or math.isinf(high):
        return Value(INFINITE)
    room = math.log2(max(1, -low, high) * tensor.numel())
    most = math.log2(torch.finfo(tensor.dtype).max) if tensor.is_floating_point() else math.inf
    return Value(FINITE, low, high, room, most, tensor.numel())


def joined(values):
    """All of some finite values."""
    return Value(
        FINITE,
        min(v.low for v in values),
        max(v.high for v in values),
        max(v.room for v in values),
        min(v.most for v in values),
        sum(v.elements for v in values),
    )


def combined(values):
    """Sums and products of some finite values, of which only the magnitude is known."""
    room, most = sum(v.room for v in values) + 1, min(v.most for v in values)
    return Value(FINITE, room=room, most=most)


def is_custom(node):
    """True for the node of a Function that the program or a compiler wrote."""
    return isinstance(node, torch.autograd.function.BackwardCFunction)


def variable_of(node):
    """The leaf whose gradient a node accumulates; None for any other node."""
    return getattr(node, "variable", None) if node.name().endswith("AccumulateGrad") else None


def saved(node):
    """Names and tensors of what a node saved; nothing where it was freed or written to since."""
    if is_custom(node):
        return []
    kind = type(node)
    if kind not in NAMES:
        NAMES[kind] = [name for name in dir(kind) if name.startswith(private.SAVED)]
    try:
        found = [(name.removeprefix(private.SAVED), getattr(node, name)) for name in NAMES[kind]]
    except RuntimeError:
        return []
    return [(name, value) for name, value in found if tensors.is_plain(value)]


def read(node, values, given):
    """Adds what a node saved to `values`, by who made it, or to what the node was `given`."""
    variable = variable_of(node)
    if variable is not None:
        add(values, (node, 0), variable)
    for name, tensor in saved(node):
        if tensor.grad_fn is not None:
            add(values, (tensor.grad_fn, tensor.output_nr), tensor)
        elif name in INPUTS and not tensor.requires_grad:
            value = examine(tensor)
            if value is not None:
                given[node].append(value)


def add(values, key, tensor):
    if key not in values:
        value = examine(tensor)
        if value is not None:
            values[key] = value


def again(function, *names):
    """Works out a result from what was saved under these names, if all of it was."""

    def work_out(found):
        return function(*(found[name] for name in names)) if all(n in found for n in names) else None

    return work_out


def divided(found):
    """A divisor of zero leaves nothing finite, whatever is divided."""
    other = found.get("other")
    if other is None or "self" in found:
        return None if other is None else found["self"] / other
    return torch.where(other == 0, math.nan, 0.0) if (other == 0).any() else None


# Nodes that save what they were given and not what they gave.
MADE_AGAIN = {
    "LogBackward0": again(torch.log, "self"),
    "Log2Backward0": again(torch.log2, "self"),
    "Log10Backward0": again(torch.log10, "self"),
    "Log1PBackward0": again(torch.log1p, "self"),
    "AcosBackward0": again(torch.acos, "self"),
    "AsinBackward0": again(torch.asin, "self"),
    "AtanhBackward0": again(torch.atanh, "self"),
    "PowBackward0": again(torch.pow, "self", "exponent"),
    "DivBackward0": divided,
}


def made_again(node):
    """The value that a node gave, where it saved all that it takes; None where it did not."""
    name = node.name()
    if name in MEANS[:2] and private.saved(node, "self_sym_numel", 1) == 0:
        return Value(NAN)
    if name == "NllLossBackward0":
        return of_no_target(dict(saved(node)), private.saved(node, "reduction"))
    if name not in MADE_AGAIN:
        return None
    found = dict(saved(node))
    if name == "PowBackward0" and "self" in found:
        found["exponent"] = private.saved(node, "exponent")  # a number
    result = MADE_AGAIN[name](found)
    return None if result is None else examine(result)


def of_no_target(found, reduction):
    """A mean over targets that are all ignored is not a number."""
    total = found.get("total_weight")
    if total is None or reduction != 1 or not is_finite(examine(total)):
        return None
    return Value(NAN) if float(total) == 0 else None


def is_finite(value):
    return value is not None and value.kind == FINITE


def telling(node, inputs):
    """The inputs that say why a node gave what is not finite; None where they are not known."""
    found = dict(saved(node))
    if node.name() == "DivBackward0":
        return examine(found["other"]) if "other" in found else None
    if node.name() in MEANS and made_again(node) is not None:
        return Value(FINITE, elements=0)
    return joined(inputs) if inputs and None not in inputs else None

"""What is said of the numbers of a tensor: whether all are finite, between which bounds they lie, and
which rows hold others."""

import math

import torch

from ...torch_api import tensors

MOST_ROWS, MOST_RANGES = 8, 4


def values_of(tensor):
    """The floating-point numbers of a tensor; None where it has none that can be looked at."""
    if not tensors.is_plain(tensor) or not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    if tensor.layout not in (torch.strided, torch.sparse_coo):
        return None
    values = tensors.dense(tensor)
    return values.float() if values.element_size() == 1 else values


def all_finite(tensor):
    values = values_of(tensor)
    return values is None or bool(torch.isfinite(values).all())


def has_nan(tensor):
    values = values_of(tensor)
    return values is not None and bool(torch.isnan(values).any())


def count_of(tensor):
    """How many elements are not finite."""
    return int((~torch.isfinite(values_of(tensor))).sum())


def rows_of(tensor):
    """(rows, the first few that hold what is not finite, how many do); None for one without rows."""
    if tensor.dim() == 0 or tensor.is_sparse or tensor.shape[0] < 2:
        return None
    bad = ~torch.isfinite(values_of(tensor)).reshape(tensor.shape[0], -1).all(1)
    found = bad.nonzero().flatten().tolist()
    return tensor.shape[0], found[:MOST_ROWS], len(found)


def ranges_of(use):
    """"[0, 3.2] and [0, 0]" for what an operation is given."""
    found = [range_of(operand) for operand in use.operands]
    return " and ".join([text for text in found if text][:MOST_RANGES])


def range_of(tensor):
    """Of a tensor or a number; empty for one that has no order, or says yes and no."""
    if isinstance(tensor, float):
        return f"[{tensor:.3g}, {tensor:.3g}]"
    if not tensors.is_plain(tensor) or tensor.is_sparse or tensor.is_complex():
        return ""
    if tensor.dtype == torch.bool:
        return ""
    if tensor.numel() == 0:
        return "no elements"
    low_precision = tensor.is_floating_point() and tensor.element_size() < 4
    values = tensor.float() if low_precision else tensor  # not all versions compare all of them
    low, high = (float(number) + 0.0 for number in torch.aminmax(values))  # no -0
    return "NaN" if math.isnan(low) else f"[{low:.3g}, {high:.3g}]"

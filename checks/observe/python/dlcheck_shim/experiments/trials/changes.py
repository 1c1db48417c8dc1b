"""Other values of the same kind for a part of an input: valid ones, as far as can be known."""

import torch


def other_values(tensor):
    """A tensor like this, with every element another: a whole number becomes one that occurs in it, so
    that it stays within the vocabulary; a flag is turned over."""
    if tensor.dtype == torch.bool:
        return ~tensor
    if tensor.is_floating_point():
        return tensor * -1.5 + 1
    known = tensor.unique()  # sorted
    if known.numel() == 1:
        return tensor
    return known[(torch.searchsorted(known, tensor) + 1) % known.numel()]


def can_be_changed(tensor):
    """True for values that can be replaced without leaving what the program may give a model."""
    if tensor.layout is not torch.strided or tensor.is_complex() or tensor.numel() == 0:
        return False
    return tensor.is_floating_point() or not tensor.dtype == torch.bool

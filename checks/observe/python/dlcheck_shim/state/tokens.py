"""Which input is a sequence of tokens, and how the targets lie to it."""

import torch

FEWEST = 16  # tokens that are compared
FEWEST_POSITIONS = 4
SHIFTS = (1, 0, 2, 3, -1)  # target i is token i + shift


def sequences(tensors):
    """The inputs that hold a token at each position: whole numbers (batch, positions)."""
    return [t for t in tensors if is_sequence(t)]


def is_sequence(tensor):
    whole = tensor.dtype in (torch.int64, torch.int32)
    return whole and tensor.dim() == 2 and tensor.shape[1] >= FEWEST_POSITIONS


def shift_of(tokens, targets, ignored):
    """By how many positions `targets` run ahead of `tokens`; None where they are other things, or where
    several answers fit, as for a sequence that repeats itself."""
    batch, positions = tokens.shape
    if targets.numel() % batch or targets.is_floating_point():
        return None
    rows = targets.reshape(batch, -1)
    if not positions - max(SHIFTS) <= rows.shape[1] <= positions:
        return None
    found = [shift for shift in SHIFTS if fits(tokens, rows, shift, ignored)]
    return found[0] if len(found) == 1 else None


def fits(tokens, rows, shift, ignored):
    first = max(0, -shift)
    last = min(rows.shape[1], tokens.shape[1] - shift)
    if last <= first:
        return False
    part, meant = rows[:, first:last], tokens[:, first + shift : last + shift]
    counted = part != ignored
    return int(counted.sum()) >= FEWEST and bool((part == meant)[counted].all())

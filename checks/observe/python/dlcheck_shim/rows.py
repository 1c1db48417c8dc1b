"""Numbers that stand for the rows of a batch: equal rows have equal numbers, and two different ones
have the same number hardly ever. Only some columns of a wide row are looked at.
"""

import torch

from .digest import word_weights

COLUMNS = 64
MASK = (1 << 64) - 1
INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
WEIGHTS = {}  # by device


def row_numbers(batch, most):
    """int64 (rows,) for the first `most` rows of a batch (rows, ...), on its device."""
    rows = batch.detach()
    if rows.shape[0] > most:
        rows = rows[:most]
    if rows.dim() != 2:
        rows = rows.reshape(rows.shape[0], -1)
    width = rows.shape[1]
    if width > COLUMNS:
        rows = rows[:, :: width // COLUMNS][:, :COLUMNS]
    if rows.is_complex():
        rows = torch.view_as_real(rows).flatten(1)
    words = words_of(rows.contiguous())
    weights = WEIGHTS.get(rows.device)
    if weights is None:
        weights = WEIGHTS[rows.device] = word_weights(0, 2 * COLUMNS, rows.device)
    if rows.is_cpu:
        return torch.mv(words, weights[: words.shape[1]])
    return (words * weights[: words.shape[1]]).sum(1)  # an accelerator multiplies no integers


def words_of(rows):
    """The bytes of each row as int64 words, or each element as one where they do not fill them."""
    size = rows.element_size()
    if rows.shape[1] * size % 8 == 0:
        return (rows.clone() if rows.storage_offset() * size % 8 else rows).view(torch.int64)
    return (rows.view(INTEGERS[size]) if rows.dtype.is_floating_point else rows).to(torch.int64)


def with_rows(batch, most, transfer, use):
    """Calls `use` with the list of row numbers, at once on the CPU and later on an accelerator."""
    if batch.dim() == 0 or batch.shape[0] == 0 or batch.numel() == 0:
        return
    numbers = row_numbers(batch, most)
    if numbers.is_cpu:
        use(numbers.tolist())
        return
    # A transfer carries doubles, which hold 32 bits exactly.
    halves = torch.cat([numbers >> 32, numbers & 0xFFFFFFFF]).double()
    count = numbers.numel()
    transfer.add(halves, lambda v: use([join(v[i], v[count + i]) for i in range(count)]))


def join(upper, lower):
    return int(upper) << 32 | int(lower)


def fingerprint(numbers):
    """Upper and lower half of one number for a list of them; their order counts."""
    digest = hash(tuple(numbers)) & MASK
    return digest >> 32, digest & 0xFFFFFFFF

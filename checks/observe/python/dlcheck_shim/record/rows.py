"""Numbers that stand for the rows of a batch: equal rows have equal numbers, and two different ones
have the same number hardly ever. Only some columns of a wide row are looked at.
"""

import torch

from ..torch_api.tensors import is_plain
from .digest import word_weights

COLUMNS = 64
MASK = (1 << 64) - 1
INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
WEIGHTS = {}  # by device


def row_numbers(batch, most):
    """int64 (rows,) for the first `most` rows of a batch (rows, ...), on its device."""
    rows = looked_at(batch, most)
    if rows.is_complex():
        rows = torch.view_as_real(rows).flatten(1)
    words = words_of(rows.contiguous())
    weights = WEIGHTS.get(rows.device)
    if weights is None:
        weights = WEIGHTS[rows.device] = word_weights(0, 2 * COLUMNS, rows.device)
    if rows.is_cpu:
        return torch.mv(words, weights[: words.shape[1]])
    return (words * weights[: words.shape[1]]).sum(1)  # an accelerator multiplies no integers


def looked_at(batch, most):
    """(rows, at most COLUMNS) of a batch (rows, ...): what its numbers are made of."""
    rows = batch.detach()
    if rows.shape[0] > most:
        rows = rows[:most]
    if rows.dim() != 2:
        rows = rows.reshape(rows.shape[0], -1)
    width = rows.shape[1]
    return rows[:, :: width // COLUMNS][:, :COLUMNS] if width > COLUMNS else rows


def words_of(rows):
    """The bytes of each row as int64 words, or each element as one where they do not fill them."""
    size = rows.element_size()
    if rows.shape[1] * size % 8 == 0:
        return (rows.clone() if rows.storage_offset() * size % 8 else rows).view(torch.int64)
    return (rows.view(INTEGERS[size]) if rows.dtype.is_floating_point else rows).to(torch.int64)


class Named(tuple):
    """Inputs that a model was given by name, of which none is known to be the batch."""


def batch_of(inputs):
    """The tensors that tell a batch from others, first the one that counts its samples: of inputs given
    in order the first, of those given by name all, because masks and positions are often constant."""
    found = [i for i in inputs if is_plain(i)]
    if not isinstance(inputs, Named):
        return found[:1]
    lengths = [i.shape[0] for i in found if i.dim() > 0]
    return sorted(found, key=lambda i: -lengths.count(i.shape[0]) if i.dim() > 0 else 1)


def numbers_of(tensors, most):
    """Row numbers of the first, with those of the others mixed in: row by row where they have as many,
    else as a whole."""
    numbers = row_numbers(tensors[0], most)
    for place, other in enumerate(tensors[1:], 1):
        if other.device == numbers.device and has_rows(other):
            own = row_numbers(other, most) * (2 * place + 1)
            numbers = numbers + (own if own.shape == numbers.shape else own.sum())
    return numbers


def has_rows(tensor):
    """True for one with numbers in rows, those of inference mode too."""
    if not is_plain(tensor) or tensor.layout is not torch.strided or tensor.is_quantized:
        return False
    return tensor.dim() > 0 and tensor.numel() > 0


def with_rows(batch, most, transfer, use):
    """Calls `use` with the list of row numbers, at once on the CPU and later on an accelerator; `batch`
    as `batch_of` gives it."""
    if not batch or not has_rows(batch[0]):
        return
    numbers = numbers_of(batch, most)
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

"""Digest of a tensor's raw bytes, the same number as checks/records/digest.h gives.

Worked out on the tensor's own device in wrapping 64-bit integers, in pieces, so that it needs
little memory of its own.
"""

import torch

MASK = (1 << 64) - 1
PIECE_WORDS = 1 << 16


def signed(number):
    return number - (1 << 64) if number >> 63 else number


STEP = signed(0x9E3779B97F4A7C15)
FIRST, SECOND = signed(0xBF58476D1CE4E5B9), signed(0x94D049BB133111EB)


def shifted(z, bits):
    """Logical right shift; torch's own keeps the sign."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def word_weights(first, count, device):
    z = torch.arange(first + 1, first + count + 1, dtype=torch.int64, device=device) * STEP
    z = (z ^ shifted(z, 30)) * FIRST
    z = (z ^ shifted(z, 27)) * SECOND
    return (z ^ shifted(z, 31)) | 1


def words_of(tensor):
    """The bytes of a tensor in its logical order as 8-byte words, the tail padded with zeros."""
    flat = tensor.detach().contiguous().view(-1).view(torch.uint8)
    size = flat.numel()
    if size % 8 or flat.storage_offset() % 8:
        padded = torch.zeros((size + 7) // 8 * 8, dtype=torch.uint8, device=flat.device)
        padded[:size] = flat
        flat = padded
    return flat.view(torch.int64)


def digest(tensors):
    """Digest of the tensors one after the other, each starting at a word of its own."""
    sums, first = {}, 0
    for tensor in tensors:
        words = words_of(tensor)
        for at in range(0, words.numel(), PIECE_WORDS):
            piece = words[at : at + PIECE_WORDS]
            part = (piece * word_weights(first + at, piece.numel(), piece.device)).sum()
            sums[piece.device] = part + sums.get(piece.device, 0)
        first += words.numel()
    return sum(int(total) for total in sums.values()) & MASK

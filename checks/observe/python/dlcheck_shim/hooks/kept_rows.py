"""The first rows of a tensor, small enough for a report: pictures are thinned out, other rows are cut."""

import collections
import math

import torch

PICTURE, ROW = "picture", "row"
SIDE = 48  # most pixels of a picture, either way
LEAST_SIDE = 8
LONGEST = 64  # numbers of a row that is no picture
CHANNELS = (1, 3)

# `shape` is that of the whole tensor; `values` are (rows, channels, height, width) of pictures, else (rows, numbers).
Rows = collections.namedtuple("Rows", "kind shape dtype values")


def copy_rows(tensor, count):
    """Call without autograd. Cost: a copy of at most SIDE x SIDE x 3 numbers a row."""
    shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
    rows = tensor.detach().reshape(1) if tensor.dim() == 0 else tensor.detach()[:count]
    pictures = as_pictures(rows)
    if pictures is None:
        return Rows(ROW, shape, dtype, rows.reshape(rows.shape[0], -1)[:, :LONGEST].clone())
    thin = max(1, math.ceil(max(pictures.shape[2:]) / SIDE))
    return Rows(PICTURE, shape, dtype, pictures[:, :, ::thin, ::thin].clone())


def as_pictures(rows):
    """(rows, channels, height, width), where rows look like that; else None."""
    if not (rows.is_floating_point() or rows.dtype == torch.uint8) or rows.numel() == 0:
        return None
    if rows.dim() == 4 and rows.shape[3] in CHANNELS and rows.shape[1] not in CHANNELS:
        rows = rows.movedim(3, 1)
    elif rows.dim() == 3 and min(rows.shape[1:]) >= LEAST_SIDE and rows.shape[1] == rows.shape[2]:
        rows = rows[:, None]
    fits = rows.dim() == 4 and rows.shape[1] in CHANNELS and min(rows.shape[2:]) >= LEAST_SIDE
    return rows if fits else None


def listed(rows):
    """As JSON can hold it."""
    values = rows.values.to("cpu", torch.float64) if rows.values.is_floating_point() else rows.values.cpu().long()
    return {"kind": rows.kind, "shape": rows.shape, "dtype": rows.dtype, "size": tuple(rows.values.shape[1:]),
            "rows": [[in_json(v) for v in row] for row in values.flatten(1).tolist()]}  # fmt: skip


def in_json(value):
    """JSON has no word for numbers that are not finite."""
    if isinstance(value, int):
        return value
    return float(f"{value:.5g}") if math.isfinite(value) else str(value)

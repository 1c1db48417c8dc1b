"""`dlcheck.export(dataset, "data.h5")`: the samples of a `torch.utils.data.Dataset` as a data file, which
`dlcheck reference --data` and `dlcheck-train` take.
"""

import ctypes
import os
import subprocess
import tempfile

import torch

from . import binary

HEAD_BYTES = 256  # of a file of NumPy: its description, padded, for the number of rows is known last
# What is kept as what: other floating-point numbers as float32.
KEPT = {torch.uint8: "|u1", torch.int32: "<i4", torch.int64: "<i8", torch.float32: "<f4", torch.float64: "<f8"}
WIDENED = {torch.bool: torch.uint8, torch.int8: torch.int32, torch.int16: torch.int32}


def export(dataset, path, *, val=0.2, test=0.0, seed=1, name=None):
    """Takes each sample once, in its order, and writes them to `path`. A sample is a pair: an input, of one shape in
    all samples, and a target, which is a class (a whole number) or one or several floating-point numbers.

    `val` and `test` are shares of the samples, drawn by `seed`. Returns a line that says what was written. Raises
    TypeError for samples of another kind, ValueError for shapes that differ and for data that are refused, and
    FileNotFoundError without the command `dlcheck-data`, which a build with LibTorch has.
    """
    command = binary.path("dlcheck-data")
    with tempfile.TemporaryDirectory() as folder:
        with Rows(os.path.join(folder, "x.npy")) as xs, Rows(os.path.join(folder, "y.npy")) as ys:
            for number, sample in enumerate(samples_of(dataset)):
                if not isinstance(sample, (tuple, list)) or len(sample) < 2:
                    raise TypeError(f"sample {number} is no pair of an input and a target: {type(sample).__name__}")
                xs.add(number, "input", sample[0])
                ys.add(number, "target", sample[1])
        words = [command, "import", xs.path, ys.path, os.fspath(path), "--val", str(val), "--test", str(test),
                 "--seed", str(seed), *(("--name", name) if name else ())]  # fmt: skip
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return done.stdout.strip()


def samples_of(dataset):
    if hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__"):
        return (dataset[number] for number in range(len(dataset)))
    return iter(dataset)


class Rows:
    """A file of NumPy that grows by a row at a time."""

    def __init__(self, path):
        self.path, self.count, self.shape, self.dtype = path, 0, None, None

    def __enter__(self):
        self.file = open(self.path, "wb")
        self.file.write(b" " * HEAD_BYTES)
        return self

    def add(self, number, what, value):
        row = tensor_of(number, what, value)
        if self.shape is None:
            self.shape, self.dtype = tuple(row.shape), row.dtype
        if (tuple(row.shape), row.dtype) != (self.shape, self.dtype):
            raise ValueError(f"the {what} of sample {number} is {tuple(row.shape)}, {row.dtype}; "
                             f"that of sample 0 is {self.shape}, {self.dtype}")  # fmt: skip
        self.file.write(ctypes.string_at(row.data_ptr(), row.numel() * row.element_size()) if row.numel() else b"")
        self.count += 1

    def __exit__(self, *failure):
        with self.file:
            shape = "".join(f"{extent}, " for extent in (self.count, *(self.shape or ())))
            text = f"{{'descr': '{KEPT.get(self.dtype)}', 'fortran_order': False, 'shape': ({shape}), }}"
            self.file.seek(0)
            self.file.write(b"\x93NUMPY\x01\x00" + (HEAD_BYTES - 10).to_bytes(2, "little"))
            self.file.write(text.ljust(HEAD_BYTES - 11).encode() + b"\n")


def tensor_of(number, what, value):
    try:
        tensor = torch.as_tensor(value).detach().cpu()
    except Exception as error:  # of whatever kind the value's own code raises
        raise TypeError(f"the {what} of sample {number} is no tensor and no number: {type(value).__name__}") from error
    if type(value).__module__.startswith("PIL.") and tensor.dim() == 3:
        tensor = tensor.permute(2, 0, 1)  # channels first, as a convolution takes them
    if tensor.dtype not in KEPT:
        tensor = tensor.to(WIDENED.get(tensor.dtype, torch.float32))
    return tensor.contiguous()

"""Copies small tensors of a CUDA device to the host, where a look reads them like any tensor of the CPU.

A copy waits for the device, as the numbers of each sampled step do. So there are few, and none where a program asks to
be told of such waits.
"""

import collections
import weakref

import torch

from . import private, tensors

MOST_COPIES, MOST_BYTES = 1024, 1 << 23  # of a process; of one copy
MOST_KEPT = 8
MOST_COMPUTED = 1 << 22  # entries


class Copies:
    """Of this process: how many may still be made, and the latest: (weak reference, version, copy)."""

    left = MOST_COPIES
    latest = collections.deque(maxlen=MOST_KEPT)


def on_host(tensor):
    """The numbers of a tensor on the host: the tensor itself, or a copy of one of an accelerator. The tensor itself, too,
    where no copy may be made; so whoever reads numbers asks `is_cpu` afterwards."""
    if type(tensor) not in tensors.PLAIN or not is_elsewhere(tensor) or not tensors.is_readable(tensor):
        return tensor
    for reference, version, copy in tuple(Copies.latest):  # another thread may add one
        if reference() is tensor and version == private.version_of(tensor):
            return copy
    if Copies.left == 0 or tensor.numel() * tensor.element_size() > MOST_BYTES:
        return tensor
    if not tensors.may_compute() or tells_of_waits():
        return tensor
    Copies.left -= 1
    with tensors.unrecorded():
        copy = tensor.detach().to("cpu", copy=True)
    Copies.latest.append((weakref.ref(tensor), private.version_of(tensor), copy))
    return copy


def is_at_hand(tensor, most=MOST_COMPUTED):
    """Whether a look may compute with a tensor where it lies and read the result. A CUDA device then waits, and needs
    memory for what is computed, so there a tensor has at most so many entries."""
    return tensor.is_cpu or is_elsewhere(tensor) and tensor.numel() <= most and tensors.may_compute() and not tells_of_waits()


def is_elsewhere(tensor):
    """Other kinds of devices may run, or compile, what was put off until then."""
    return tensor.is_cuda


def tells_of_waits():
    return torch.cuda.is_initialized() and torch.cuda.get_sync_debug_mode() != 0

"""Digests of the parts of a program's state before a step: what a checkpoint must have brought back.

Taken where a part is what it was when the checkpoint was written: weights and an optimizer's state as
its own next step begins, buffers as a model's next forward does, averages before their next update.
"""

import random
import struct
import sys

import torch

from ..record.digest import digest
from ..torch_api import private, tensors
from ..torch_api.capabilities import is_compiling, scaler_classes
from ..torch_api.wrapping import followed_by, replace
from . import walking
from .models import canonical
from .optimizers import parameters_of, rate_of


class ProgramState:
    def __init__(self, watch, step):
        """`step`: the one before which the state counts; all steps from there on are recorded."""
        self.watch, self.step, self.done = watch, step, set()
        self.recorder = watch.recorder
        self.recorder.always_from = step

    def begin(self):
        observe = self.watch.guard.isolated("state")
        self.watch.moments.gradients_used.append(observe(self.consumes))
        self.watch.moments.batch_enters.append(observe(self.enters))
        self.scaled, self.averages = observe(self.scaled), observe(self.averages)
        for scaler in scaler_classes():
            replace([scaler], "scale", followed_by(self.scaled))
        replace([torch, torch.serialization], "save", followed_by(observe(self.saves)))
        averaged = getattr(torch.optim.swa_utils, "AveragedModel", None)
        if averaged is not None:
            replace([averaged], "update_parameters", self.watched_average)

    def saves(self, *_):
        """What a forward before the save showed, as between two micro-batches, is shown again."""
        if self.recorder.step == self.step:
            self.done = {part for part in self.done if not isinstance(part, tuple)}

    def is_first(self, part):
        if self.recorder.step < self.step or part in self.done:
            return False
        self.done.add(part)
        return True

    def write(self, name, number):
        thing = self.recorder.thing("state", 0, name)
        self.recorder.quantity("state_digest", thing, number >> 32, number & 0xFFFFFFFF)

    def consumes(self, optimizer, watched):
        if not self.is_first(watched.thing) or not tensors.may_compute():
            return
        if self.is_first("random"):
            self.write_generators()
        name = f"{type(optimizer).__name__} (from {self.name_of(parameters_of(optimizer)[0])})"
        self.write(f"weights of {name}", digest_of(parameters_of(optimizer)))
        for key, values in state_of(optimizer).items():
            self.write(f"{key} of {name}", digest_of(values))
        rates = [rate for rate in map(rate_of, optimizer.param_groups) if rate is not None]
        self.write(f"rates of {name}", digest_of(rates))
        places = [scheduler.last_epoch for scheduler, _ in self.watch.schedulers.known.items()
                  if getattr(scheduler, "optimizer", None) is optimizer
                  and hasattr(scheduler, "last_epoch")]  # fmt: skip
        if places:
            self.write(f"schedule of {name}", digest_of(places))

    def name_of(self, parameter):
        for root, _ in self.watch.models.roots.items():
            for name, held in walking.named_parameters(root):
                if held is parameter:
                    return canonical(name)
        return "a tensor"

    def write_generators(self):
        self.write("random/torch", digest([torch.get_rng_state()]))
        self.write("random/python", digest_of([repr(random.getstate())]))
        numpy = sys.modules.get("numpy")
        if numpy is not None and hasattr(numpy, "random"):
            self.write("random/numpy", digest_of([repr(numpy.random.get_state())]))

    def enters(self, inputs):
        """A training forward begins."""
        model = self.watch.forwards.model
        if model is None or not self.is_first(("model", model.thing)) or not tensors.may_compute():
            return
        given = [t for t in inputs if isinstance(t, torch.Tensor)]
        root = next((r for r, m in self.watch.models.roots.items() if m is model), None)
        if root is None:
            return
        name = type(root).__name__
        self.write(f"data/first batch of {name}", digest_of(given))
        buffers = saved_buffers(root)
        if buffers:
            self.write(f"buffers of {name}", digest_of(buffers))

    def scaled(self, result, args, kwargs):
        if self.is_first("scaler") and getattr(args[0], private.SCALE, None) is not None:
            self.write("scale of the losses", digest_of([getattr(args[0], private.SCALE)]))

    def watched_average(self, original):
        def update(averaged, *args, **kwargs):
            if not is_compiling() and not self.watch.guard.elsewhere():
                self.averages(averaged)
            return original(averaged, *args, **kwargs)

        return update

    def averages(self, averaged):
        """Before the first update that follows a step from there on."""
        name = f"averages of {type(averaged.module).__name__}"
        if self.recorder.step > self.step and self.is_first(name):
            self.write(name, digest_of([*walking.parameters(averaged), *walking.saved_buffers(averaged)]))


def state_of(optimizer):
    """Values of each key of an optimizer's state, in the order of its parameters."""
    found = {}
    for parameter in parameters_of(optimizer):
        for key, value in optimizer.state.get(parameter, {}).items():
            if isinstance(value, (torch.Tensor, int, float)):
                found.setdefault(key, []).append(value)
    return found


def saved_buffers(root):
    """Buffers that a checkpoint is meant to hold."""
    return [buffer for module in walking.modules(root) for buffer in walking.saved_buffers(module)]


def digest_of(values):
    """Of tensors, numbers and texts, in their order; a tensor of one number counts as that number,
    since optimizers keep the same count as either."""
    with tensors.unrecorded():
        return digest([as_tensor(value) for value in values])


def as_tensor(value):
    if isinstance(value, torch.Tensor):
        value = tensors.local(value.detach())
        if not tensors.is_readable(value):
            value = f"{value.layout} {tuple(value.shape)}"
        elif value.numel() != 1 or value.is_complex():
            return value
        else:
            value = value.item()
    data = value.encode() if isinstance(value, str) else struct.pack("<d", value)
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)

"""Inputs and targets that stand in for the program's own, for the experiments one_batch and mean_inputs.

A model's inputs are the tensors among the arguments of a training forward of its root; what was worked
out with gradients is no input. Positions are counted within a step, so that a step of several
micro-batches is stood in for as a whole.
"""

import collections.abc
import copy
import dataclasses
import enum

import torch
import torch.nn.functional as F

from ...hooks.loss import KINDS
from ...torch_api.capabilities import is_compiling
from ...torch_api.wrapping import replace
from ..fixed_batch.fetches import Fetches

DROPOUTS = (
    "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout",
)  # fmt: skip


# What holds no tensors.
PLAIN = (
    type(None), bool, int, float, complex, str, bytes, range, slice, enum.Enum, torch.dtype, torch.device,
    torch.nn.Module, torch.Generator,
)  # fmt: skip


def switch_dropout_off():
    for owner in (F, torch):
        for name in DROPOUTS:
            replace([owner], name, lambda original: lambda input, *args, **kwargs: input)
    replace([F], "scaled_dot_product_attention", without_dropout)


def without_dropout(original):
    def attend(query, key, value, attn_mask=None, dropout_p=0.0, *args, **kwargs):
        return original(query, key, value, attn_mask, 0.0, *args, **kwargs)

    return attend


def swapped(value, swap, stranger=lambda value: None):
    """The same nest of sequences, mappings and data classes with `swap` applied to every input tensor.
    `stranger` is called with what may hold tensors and is none of these."""
    if isinstance(value, torch.Tensor):
        return swap(value) if is_input(value) else value
    if isinstance(value, (list, tuple)):
        made = [swapped(item, swap, stranger) for item in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if isinstance(value, collections.abc.MutableMapping):
        made = copy.copy(value)
        for key in value:
            made[key] = swapped(value[key], swap, stranger)
        return made
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        made = copy.copy(value)
        for field in dataclasses.fields(value):
            part = swapped(getattr(value, field.name), swap, stranger)
            object.__setattr__(made, field.name, part)  # of a frozen one, too
        return made
    if not isinstance(value, PLAIN) and not callable(value):
        stranger(value)
    return value


def is_input(tensor):
    """A leaf that asks for a gradient is one that a program means to change, or to differentiate by."""
    if not tensor.requires_grad:
        return True
    return tensor.is_leaf and not isinstance(tensor, torch.nn.Parameter)


class StandIns:
    """Puts itself between the program and the root modules of its training forwards."""

    def __init__(self, watch, refuse):
        self.watch, self.refuse = watch, refuse
        self.inside = False
        self.counts = {}  # forwards and loss calls of this step

    def begin(self):
        replace([torch.nn.Module], "__call__", self.watched_call)
        self.watch.moments.stepped.append(self.end_step)

    def end_step(self):
        self.counts = {}

    def refuse_stranger(self, value):
        self.refuse(f"a model is called with a {type(value).__name__}, which may contain tensors")

    def position(self, what):
        number = self.counts.get(what, 0)
        self.counts[what] = number + 1
        return (what, number)

    def watched_call(self, original):
        def call(module, *args, **kwargs):
            if (is_compiling() or self.inside or not module.training
                    or not torch.is_grad_enabled()):  # fmt: skip
                return original(module, *args, **kwargs)
            model = self.watch.models.as_root(module)
            if model is None:
                return original(module, *args, **kwargs)
            self.inside = True
            try:
                place, tensors = self.position(model.ordinal), []
                swapped((args, kwargs), lambda t: tensors.append(t) or t, self.refuse_stranger)
                others = iter(self.stand_in(place, tensors))
                args, kwargs = swapped((args, kwargs), lambda tensor: asked(next(others), tensor))
                before = torch.get_rng_state()
                result = original(module, *args, **kwargs)
                if not torch.equal(before, torch.get_rng_state()):
                    self.watch.recorder.attribute(0, "draws_in_forward", "1")
                return result
            finally:
                self.inside = False

        return call


def asked(made, tensor):
    """Asks for a gradient where the program did."""
    return made.requires_grad_() if tensor.requires_grad and made is not tensor else made


def copies(tensors):
    return [tensor.detach().clone() for tensor in tensors]


class TrainingFetches(Fetches):
    """What a program fetches for an evaluation stays, and so does what a new data set holds."""

    def handed_out(self, origin, batch):
        return super().handed_out(origin, batch) if torch.is_grad_enabled() else batch

    def source_like(self, batch):
        return None


class OneBatch(StandIns):
    """The batch of the first step, or of the second: a forward without a loss, as to build layers
    that take their size from it, makes the first step unlike all others. Loaders hand out the batches of
    that step too, as a program may put them to more use than a model and a loss."""

    def __init__(self, watch, refuse):
        super().__init__(watch, refuse)
        self.seen = [{}]  # of the first two steps: tensors by position
        self.first = None  # those that stand in from then on
        self.fetches = [TrainingFetches(watch, lambda: None, refuse) for _ in range(2)]  # of these steps

    def begin(self):
        super().begin()
        for fetches in self.fetches:
            fetches.begin()
        self.fetches[0].keeping = True
        for function in KINDS:
            replace([F], function, self.watched_loss)

    def watched_loss(self, original):
        def loss(input, target, *args, **kwargs):
            if torch.is_grad_enabled() and input.requires_grad and not target.requires_grad:
                target = self.stand_in(self.position("target"), [target])[0]
            return original(input, target, *args, **kwargs)

        return loss

    def stand_in(self, place, tensors):
        if self.first is None:
            self.seen[-1][place] = copies(tensors)
            return tensors
        first = self.first.get(place)
        if first is None and place[0] not in {what for what, _ in self.first}:
            self.refuse("later steps call a different model")
        if first is None:
            self.first[place] = copies(tensors)
            return tensors
        if [t.dtype for t in first] != [t.dtype for t in tensors]:
            self.refuse("the first batch cannot replace later ones: their tensors differ")
        return copies(first)

    def end_step(self):
        if "target" not in self.counts:
            known = ", ".join(KINDS)
            self.refuse(f"the loss is not one of {known}, so its targets are unknown")
        if not any(isinstance(what, int) for what in self.counts):
            self.refuse("a step had no observed forward pass in training mode")
        if self.first is None and len(self.seen) == 2:
            first, second = self.seen
            is_second = second.keys() < first.keys()
            self.first = second if is_second else first
            self.fetches[1].keeping = False
            self.fetches[is_second].hold()
        elif self.first is None:
            self.seen.append({})
            self.fetches[0].keeping, self.fetches[1].keeping = False, True
        for fetches in self.fetches:
            fetches.end_step()
        super().end_step()


class Blind(StandIns):
    def __init__(self, watch, refuse):
        super().__init__(watch, refuse)
        self.means = {}  # by position of the first batch

    def stand_in(self, place, tensors):
        if any(not tensor.is_floating_point() for tensor in tensors):
            self.refuse("the inputs are not floating-point numbers, so they have no mean")
        if place not in self.means:
            self.means[place] = [tensor.detach().mean(0, keepdim=True) for tensor in tensors]
        means = self.means[place]
        if [m.shape[1:] for m in means] != [t.shape[1:] for t in tensors]:
            self.refuse("the inputs differ in shape from batch to batch")
        return [mean.expand(t.shape).clone() for mean, t in zip(means, tensors)]

    def end_step(self):
        if not self.counts:
            self.refuse("a step had no observed forward pass in training mode")
        super().end_step()

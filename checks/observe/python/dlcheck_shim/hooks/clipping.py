"""Watches gradient clipping: the bound, and which parameters were given to it."""

import collections.abc
import math
import types

import torch

from ..state.optimizers import with_gradients
from ..torch_api import tensors
from ..torch_api.capabilities import is_compiling
from ..torch_api.on_host import on_host
from ..torch_api.wrapping import Around, replace


class Clipping:
    def __init__(self, guard, recorder, sites):
        self.guard, self.recorder, self.sites = guard, recorder, sites
        self.clipped = set()  # ids of parameters clipped since their optimizer's last step
        self.inside = False
        self.observe = guard.isolated("clip")(self.observe)
        self.look_at = guard.isolated("clip")(self.look_at)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.clipped.clear()
        self.told = self.overflowed = False  # that gradients are clipped by value, and that a norm overflowed

    def watch_all(self):
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            replace([torch.nn.utils, torch.nn.utils.clip_grad], name, self.around(name))

    def subscribe(self, moments):
        moments.gradients_used.append(self.write)

    def around(self, name):
        way, bound_name = ("value", "clip_value") if "value" in name else ("norm", "max_norm")

        def before(args, kwargs):
            if is_compiling() or self.inside or self.guard.elsewhere():
                return None
            self.inside = True
            return Call(args, kwargs)

        def first(call, parameters):  # a generator gives its parameters but once
            call.parameters, again = kept(parameters)
            return again

        def after(call, result):
            args, kwargs = call.args, call.kwargs
            bound = args[1] if len(args) > 1 else kwargs.get(bound_name, 0)
            norm_type = args[2] if len(args) > 2 else kwargs.get("norm_type", 2.0)
            self.observe(way, call.parameters, bound, norm_type if way == "norm" else 0)
            if way == "norm" and not self.overflowed:
                self.look_at(call.parameters, result)

        def ended(call):
            self.inside = False

        return Around(before, after, ended, first)

    def observe(self, way, parameters, bound, norm_type):
        self.clipped.update(map(id, parameters or ()))
        if way == "value" and not self.told:
            self.told = True
            self.recorder.quantity("clipped_by_value", self.recorder.thing("clip", 0, way),
                                   float(bound), site=self.sites.current(always=True))  # fmt: skip
        if not isinstance(bound, torch.Tensor):
            self.recorder.event("clip", self.recorder.thing("clip", 0, way), float(bound),
                                float(norm_type), site=self.sites.current())  # fmt: skip

    def look_at(self, parameters, norm):
        """Of a norm that is not finite, by which every gradient was divided: one that was infinite itself is
        NaN now, and one that was finite is zero."""
        if not tensors.may_compute() or not tensors.is_plain(norm) or norm.numel() != 1 or not (norm := self.at_hand(norm)).is_cpu:
            return
        if math.isfinite(norm):
            return
        gradients = [p.grad for p in parameters or () if p.grad is not None]
        if gradients and all(map(tensors.is_readable, gradients)):
            if all(bool(torch.isfinite(gradient).all()) for gradient in gradients):
                self.overflowed = True
                thing = self.recorder.thing("clip", 0, "norm")
                self.recorder.quantity("overflowed_norm", thing, 1.0, site=self.sites.current(always=True))

    def at_hand(self, norm):
        """To read it waits for an accelerator, so it is read in sampled steps alone."""
        return on_host(norm) if self.recorder.sampled else norm

    def write(self, optimizer, watched):
        """As a step consumes its gradients: how many of them were clipped."""
        if not self.clipped:
            return
        owners = with_gradients(optimizer)
        count = sum(id(p) in self.clipped for p in owners)
        self.clipped.difference_update(map(id, owners))
        if count and self.recorder.sampled:
            self.recorder.quantity("clipped_parameters", watched.thing, float(count),
                                   float(len(owners)), owner=watched.thing)  # fmt: skip


class Call:
    def __init__(self, args, kwargs):
        self.args, self.kwargs, self.parameters = args, kwargs, None


def kept(parameters):
    """The parameters, and something equal in the place of a generator."""
    if isinstance(parameters, torch.Tensor):
        return [parameters], parameters
    if isinstance(parameters, types.GeneratorType):
        found, error = taken(parameters)
        return found, given_again(found, error)
    if isinstance(parameters, collections.abc.Iterator):
        found, error = taken(parameters)
        return found, given_again(found, error) if error else iter(found)
    is_given_anew = isinstance(parameters, collections.abc.Iterable)
    return list(parameters) if is_given_anew else [], parameters


def taken(iterator):
    """What it gives, and the error that it ends with, if it does."""
    found = []
    try:
        found.extend(iterator)
    except Exception as error:  # the program's own, which torch is to meet
        return found, error
    return found, None


def given_again(found, error):
    yield from found
    if error is not None:
        raise error

"""Watches gradient clipping: the bound, and which parameters were given to it."""

import collections.abc
import types

import torch

from .capabilities import is_compiling
from .optimizers import with_gradients
from .wrapping import replace


class Clipping:
    def __init__(self, guard, recorder, sites):
        self.guard, self.recorder, self.sites = guard, recorder, sites
        self.clipped = set()  # ids of parameters clipped since their optimizer's last step
        self.inside = False
        self.observe = guard.isolated("clip")(self.observe)
        recorder.on_fork.append(self.clipped.clear)

    def watch_all(self):
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            replace([torch.nn.utils, torch.nn.utils.clip_grad], name, self.stand_in_for(name))

    def stand_in_for(self, name):
        way, bound_name = ("value", "clip_value") if "value" in name else ("norm", "max_norm")

        def make(original):
            def stand_in(*args, **kwargs):
                if is_compiling() or self.inside or self.guard.elsewhere():
                    return original(*args, **kwargs)
                parameters = None
                if args:  # a generator gives its parameters but once
                    parameters, args = kept(args[0], args[1:])
                elif "parameters" in kwargs:
                    parameters, (again,) = kept(kwargs["parameters"], ())
                    kwargs["parameters"] = again
                self.inside = True
                try:
                    result = original(*args, **kwargs)
                finally:
                    self.inside = False
                bound = args[1] if len(args) > 1 else kwargs.get(bound_name, 0)
                norm_type = args[2] if len(args) > 2 else kwargs.get("norm_type", 2.0)
                self.observe(way, parameters, bound, norm_type if way == "norm" else 0)
                return result

            return stand_in

        return make

    def observe(self, way, parameters, bound, norm_type):
        self.clipped.update(map(id, parameters or ()))
        if not isinstance(bound, torch.Tensor):
            self.recorder.event("clip", self.recorder.thing("clip", 0, way), float(bound),
                                float(norm_type), site=self.sites.current())  # fmt: skip

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


def kept(parameters, rest):
    """The parameters, and the arguments with something equal in the place of a generator."""
    if isinstance(parameters, torch.Tensor):
        return [parameters], (parameters, *rest)
    if isinstance(parameters, types.GeneratorType):
        found = list(parameters)
        return found, ((p for p in found), *rest)
    if isinstance(parameters, collections.abc.Iterator):
        found = list(parameters)
        return found, (iter(found), *rest)
    return list(parameters), (parameters, *rest)

"""Watches calls that are events and nothing more: seeds, clearing, modes."""

import random

import torch

from ..torch_api.wrapping import followed_by, replace, switch_of
from .moved_between import MovedBetween
from .unstepped import Unstepped


class Calls:
    def __init__(self, guard, recorder, sites, models, optimizers):
        self.guard, self.recorder, self.sites = guard, recorder, sites
        self.models, self.optimizers = models, optimizers
        self.unstepped = Unstepped(guard, recorder, optimizers)
        self.moved = MovedBetween(guard, recorder, optimizers)
        self.clearing, self.watches_clearing = [], True

    def watch(self, family, owners, name, observe):
        replace(owners, name, followed_by(self.guard.isolated(family)(observe)))

    def subscribe(self, moments):
        self.unstepped.subscribe(moments)
        self.moved.subscribe(moments)
        moments.begins_anew.append(lambda: self.end_step(True))
        moments.sampled_stepped.append(lambda: self.end_step(self.recorder.sampled))

    def end_step(self, sampled):
        """Whether clearing is asked for says something in sampled steps alone; the gradients
        themselves are looked at in all."""
        if sampled != self.watches_clearing:
            self.watches_clearing = sampled
            for switch in self.clearing:
                switch.on() if sampled else switch.off()

    def watch_all(self):
        optim, nn = torch.optim.Optimizer, torch.nn
        self.watch("seed", [torch, torch.random], "manual_seed", self.torch_seeded)
        self.watch("seed", [random], "seed", self.seeded)
        self.watch("clear", [optim], "zero_grad", self.optimizer_cleared)
        self.watch("clear", [nn.Module], "zero_grad", self.model_cleared)
        self.clearing = [switch_of(owner, "zero_grad") for owner in (optim, nn.Module)]
        self.watch("mode", [nn.Module], "train", self.mode)
        self.watch("open", [optim], "__init__", self.optimizer_made)

    def watch_numpy(self, module):
        if hasattr(module, "random"):  # not while numpy itself is being imported
            self.watch("seed", [module.random], "seed", self.seeded)

    def optimizer_made(self, result, args, kwargs):
        self.recorder.begin()
        self.unstepped.made(args[0])
        self.recorder.moments.optimizer_made(args[0])
        self.recorder.moments.mode_changed()

    def torch_seeded(self, result, args, kwargs):
        self.seeded(result, args, kwargs)
        seed = args[0] if args else kwargs.get("seed")
        if isinstance(seed, int):
            self.recorder.moments.seeded(seed)

    def seeded(self, result, args, kwargs):
        seed = args[0] if args else kwargs.get("seed", kwargs.get("a"))
        if isinstance(seed, (int, float)):
            self.recorder.event("seeded", 0, float(seed), site=self.sites.current())

    def optimizer_cleared(self, result, args, kwargs):
        watched = self.optimizers.watch(args[0])
        thing = watched.thing
        if not self.moved.any():
            self.recorder.event("cleared", thing, site=self.sites.current(), owner=thing)
        self.unstepped.cleared(args[0], watched)

    def model_cleared(self, result, args, kwargs):
        thing = self.models.thing_of_any(args[0])
        if not self.moved.any():
            self.recorder.event("cleared", thing, site=self.sites.current())

    def mode(self, result, args, kwargs):
        self.recorder.moments.mode_changed()
        training = args[1] if len(args) > 1 else kwargs.get("mode", True)
        thing = self.models.thing_of_any(args[0])
        self.recorder.event("mode", thing, float(training), site=self.sites.current())

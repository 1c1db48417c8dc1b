"""Watches calls that are events and nothing more: seeds, clearing, clipping, schedules, modes,
batches handed out, files, loss scalers."""

import os
import random

import torch

from .optimizers import rate_of
from .wrapping import followed_by, replace


class Calls:
    def __init__(self, guard, recorder, sites, models, optimizers, steps):
        self.guard, self.recorder, self.sites = guard, recorder, sites
        self.models, self.optimizers, self.steps = models, optimizers, steps

    def watch(self, family, owners, name, observe):
        replace(owners, name, followed_by(self.guard.isolated(family)(observe)))

    def watch_all(self):
        optim, nn = torch.optim.Optimizer, torch.nn
        self.watch("seed", [torch, torch.random], "manual_seed", self.seeded)
        self.watch("seed", [random], "seed", self.seeded)
        self.watch("clear", [optim], "zero_grad", self.optimizer_cleared)
        self.watch("clear", [nn.Module], "zero_grad", self.model_cleared)
        self.watch("mode", [nn.Module], "train", self.mode)
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            self.watch("clip", [nn.utils, nn.utils.clip_grad], name, self.clipped)
        self.watch("open", [optim], "__init__", lambda *_: self.recorder.begin())
        loader = torch.utils.data.dataloader
        self.watch("fetch", [loader._BaseDataLoaderIter], "__next__", self.fetched)
        self.watch("file", [torch, torch.serialization], "save", self.saved)
        self.watch("file", [torch, torch.serialization], "load", self.loaded)
        # State may come from anywhere: a hub, safetensors, a pipe. It always arrives here.
        self.watch("file", [nn.Module], "load_state_dict", self.state_put_into_model)
        self.watch_schedulers()
        self.watch_scaler()

    def watch_numpy(self, module):
        self.watch("seed", [module.random], "seed", self.seeded)

    def watch_schedulers(self):
        for scheduler in list(vars(torch.optim.lr_scheduler).values()):
            if isinstance(scheduler, type) and "step" in vars(scheduler):
                self.watch("schedule", [scheduler], "step", self.scheduled)

    def watch_scaler(self):
        scaler = torch.amp.GradScaler
        self.watch("scaler", [scaler], "unscale_", self.unscaled)
        if hasattr(scaler, "_maybe_opt_step"):
            replace([scaler], "_maybe_opt_step", self.watched_scaler_step)

    def watched_scaler_step(self, original):
        """A step that the scaler holds back because a gradient overflowed ends no step hook."""
        skip = self.guard.isolated("clock")(self.steps.skip)

        def stand_in(scaler, optimizer, *args, **kwargs):
            if self.guard.elsewhere():
                return original(scaler, optimizer, *args, **kwargs)
            self.steps.ended = False
            result = original(scaler, optimizer, *args, **kwargs)
            if not self.steps.ended:
                skip(optimizer)
            return result

        return stand_in

    def seeded(self, result, args, kwargs):
        seed = args[0] if args else kwargs.get("seed", kwargs.get("a"))
        if isinstance(seed, (int, float)):
            self.recorder.event("seeded", 0, float(seed), site=self.sites.current())

    def optimizer_cleared(self, result, args, kwargs):
        watched = self.optimizers.watched.get(args[0])
        thing = watched.thing if watched else 0
        self.recorder.event("cleared", thing, site=self.sites.current(), owner=thing)

    def model_cleared(self, result, args, kwargs):
        thing = self.models.thing_of_any(args[0])
        self.recorder.event("cleared", thing, site=self.sites.current())

    def mode(self, result, args, kwargs):
        training = args[1] if len(args) > 1 else kwargs.get("mode", True)
        thing = self.models.thing_of_any(args[0])
        self.recorder.event("mode", thing, float(training), site=self.sites.current())

    def clipped(self, result, args, kwargs):
        bound = args[1] if len(args) > 1 else kwargs.get("max_norm", kwargs.get("clip_value", 0))
        if not isinstance(bound, torch.Tensor):
            self.recorder.event("clip", 0, float(bound), site=self.sites.current())

    def fetched(self, result, args, kwargs):
        self.recorder.event("fetched")

    def scheduled(self, result, args, kwargs):
        scheduler = args[0]
        # A scheduler's first step is its own, made as it is built.
        if getattr(scheduler, "_is_initial", False) or getattr(scheduler, "_step_count", 2) < 2:
            return
        optimizer = getattr(scheduler, "optimizer", None)
        watched = self.optimizers.watched.get(optimizer)
        rate = rate_of(optimizer.param_groups[0]) if optimizer is not None else None
        thing = watched.thing if watched else 0
        self.recorder.event(
            "schedule", thing, rate or 0.0, site=self.sites.current(), owner=thing
        )

    def unscaled(self, result, args, kwargs):
        scale = getattr(args[0], "_scale", None)
        if scale is None:
            return
        recorder, at = self.recorder, self.sites.current()
        watched = self.optimizers.watched.get(args[1]) if len(args) > 1 else None
        thing = watched.thing if watched else 0
        recorder.transfer.add(
            scale.detach().reshape(1),
            lambda values: recorder.event("unscale", thing, values[0], site=at, owner=thing),
        )

    def saved(self, result, args, kwargs):
        self.recorder.event("saved", self.file_thing(args[1] if len(args) > 1 else kwargs.get("f")))

    def loaded(self, result, args, kwargs):
        self.recorder.event("loaded", self.file_thing(args[0] if args else kwargs.get("f")))

    def state_put_into_model(self, result, args, kwargs):
        self.recorder.event("loaded", self.models.thing_of_any(args[0]))

    def file_thing(self, file):
        if not isinstance(file, (str, os.PathLike)):
            return 0
        return self.recorder.thing("file", 0, os.fspath(file))

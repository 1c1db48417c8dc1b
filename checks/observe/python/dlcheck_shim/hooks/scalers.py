"""Watches loss scalers: the scale, when gradients are divided by it again, and the steps that they
leave out."""

import torch

from ..autograd.loss_graph import mark_scale
from ..torch_api import private
from ..torch_api.attributes import attribute
from ..torch_api.capabilities import scaler_classes
from ..torch_api.on_host import on_host
from ..torch_api.wrapping import Around, followed_by, replace


class Scalers:
    def __init__(self, guard, recorder, sites, optimizers, steps, built):
        self.guard, self.recorder, self.sites, self.built = guard, recorder, sites, built
        self.optimizers, self.steps = optimizers, steps
        self.count = guard.isolated("scaler", asks_tensors=False)(self.count)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.told = -1  # step whose scale was written
        self.undone = None  # where gradients were divided by the scale: step, thing of their optimizer, line
        self.mixed = 0  # backward calls that added to such gradients

    def subscribe(self, moments):
        moments.backward_ended.append(lambda: self.undone and self.count())

    def count(self):
        """A backward has added to gradients that are divided by the scale already."""
        step, thing, site = self.undone
        if step == self.recorder.step:
            self.mixed += 1
            self.recorder.quantity("unscaled_early", thing, float(self.mixed), site=site)
        self.undone = None

    def watch_all(self):
        observe = self.guard.isolated("scaler")
        for scaler in scaler_classes():
            replace([scaler], "scale", followed_by(observe(self.scaled)))
            replace([scaler], "unscale_", followed_by(observe(self.unscaled)))
            replace([scaler], "load_state_dict", followed_by(observe(self.loaded)))
            if hasattr(scaler, private.STEP_IF_FINITE):
                replace([scaler], private.STEP_IF_FINITE, self.watched_step())

    def thing(self):
        return self.recorder.thing("scaler", 0, "scaler")

    def scaled(self, result, args, kwargs):
        """A loss was multiplied; its graph is marked with the scale, so that the scale is not taken
        for a part of the loss."""
        scale = attribute(args[0], private.SCALE)
        if scale is None:
            return
        if isinstance(result, torch.Tensor):
            mark_scale(result.grad_fn, scale.detach())
        recorder = self.recorder
        if recorder.step == self.told or not recorder.takes_scalars():
            return
        self.told = recorder.step
        thing, at = self.thing(), (recorder.step, recorder.micro_step)
        self.built.tell_once("scaler_built", args[0], thing)
        recorder.transfer.add(
            scale.detach().reshape(1),
            lambda values: recorder.quantity("loss_scale", thing, values[0], at=at),
        )

    def unscaled(self, result, args, kwargs):
        scale = attribute(args[0], private.SCALE)
        if scale is None:
            return
        watched = self.optimizers.watched.get(args[1]) if len(args) > 1 else None
        thing = watched.thing if watched else 0
        site = self.sites.current()
        self.undone = (self.recorder.step, thing, site)
        write_unscale(self.recorder, thing, scale, site)

    def loaded(self, result, args, kwargs):
        self.recorder.event("loaded", self.thing(), site=self.sites.current(True), always=True)

    def watched_step(self):
        """A step that the scaler holds back because a gradient overflowed ends no step hook."""
        skip = self.guard.isolated("clock")(self.steps.skip)

        def before(args, kwargs):
            if self.guard.elsewhere():
                return None
            self.steps.ended = False
            return args[1]

        def after(optimizer, result):
            if not self.steps.ended:
                skip(optimizer)

        return Around(before, after)


def write_unscale(recorder, thing, scale, site):
    """Gradients were divided by the scale, for the optimizer that is this thing. Whether they were clipped before is told
    by the order of events, so in sampled steps the scale of an accelerator is read at once."""
    recorder.moments.unscaled(thing, scale.detach())
    at = (recorder.step, recorder.micro_step)
    recorder.transfer.add(
        (on_host(scale) if recorder.sampled else scale).detach().reshape(1),
        lambda values: recorder.event("unscale", thing, values[0], site=site, owner=thing, at=at),
    )


def was_held_back(optimizer):
    """A fused step that found a value that is not finite left the weights alone; it is asked only
    where that stops no accelerator."""
    found = attribute(optimizer, "found_inf")
    return isinstance(found, torch.Tensor) and found.is_cpu and bool(found)

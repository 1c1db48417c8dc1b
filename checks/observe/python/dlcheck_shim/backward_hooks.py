"""Watches torch.autograd.backward: the loss it starts from, and what the gradients hold before
it."""

import torch

from . import tensors
from .uncleared import held_norms


class BackwardHooks:
    def __init__(self, guard, recorder, sites, optimizers, uncleared, losses, forwards, steps):
        self.recorder, self.sites, self.optimizers = recorder, sites, optimizers
        self.uncleared, self.losses, self.forwards = uncleared, losses, forwards
        self.steps = steps
        self.guard = guard
        self.before = guard.isolated("backward")(self.before)
        self.after = guard.isolated("backward")(self.after)

    def before(self, loss):
        recorder = self.recorder
        recorder.begin()
        self.forwards.forget()
        self.steps.forget_raised()
        self.losses.end_evaluation()
        site = self.sites.current()
        if tensors.may_compute():
            self.uncleared.before_backward()
            if recorder.sampled and recorder.micro_step == 0:
                held_norms(self.optimizers, recorder, site)
        thing, samples = self.losses.of_backward(loss)
        if recorder.takes_scalars() and is_number(loss):
            self.write_loss(loss, thing, samples, site)
        recorder.event("backward", thing, site=site)

    def write_loss(self, loss, thing, samples, site):
        recorder = self.recorder
        if loss.device.type == "cpu":
            recorder.quantity("loss", thing, loss.item(), samples, site)
            return
        at = (recorder.step, recorder.micro_step)
        recorder.transfer.add(
            loss.detach().reshape(1),
            lambda values: recorder.quantity("loss", thing, values[0], samples, site, at=at),
        )

    def after(self):
        self.recorder.micro_step += 1


def is_number(loss):
    return tensors.is_plain(loss) and loss.numel() == 1 and not loss.is_complex()


def watched_backward(original, hooks):
    """Stands in for torch.autograd.backward, which Tensor.backward looks up at each call."""

    def backward(tensors_, *args, **kwargs):
        # A backward inside a backward belongs to the outer one (reentrant checkpoints).
        if torch.compiler.is_compiling() or torch._C._current_graph_task_id() != -1:
            return original(tensors_, *args, **kwargs)
        if not hooks.guard.trains_here():
            return original(tensors_, *args, **kwargs)
        hooks.before(tensors_ if isinstance(tensors_, torch.Tensor) else next(iter(tensors_), None))
        hooks.guard.in_backward = True
        try:
            result = original(tensors_, *args, **kwargs)
        finally:
            hooks.guard.in_backward = False
        hooks.after()
        return result

    return backward

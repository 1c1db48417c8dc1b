"""Watches module calls with gradients enabled: which module ran, in which mode, on which batch.

Global hooks, put in once before the first forward and gated inside, because putting hooks in and
out makes compiled code compile again. Compiled regions and recomputation are passed over.
"""

import math

import torch

from . import tensors
from .digest import digest


class ForwardHooks:
    def __init__(self, guard, recorder, sites, models, losses):
        self.guard, self.recorder, self.sites = guard, recorder, sites
        self.models, self.losses = models, losses
        self.begin = guard.isolated("forward")(self.begin)
        self.write_forward = guard.isolated("forward")(self.write_forward)
        self.end = guard.isolated("forward")(self.end)
        self.root, self.model, self.entered = None, None, False  # of the forward under way
        self.ran = {}  # module things of this step, by step

    def before(self, module, args):
        if torch.compiler.is_compiling() or self.guard.elsewhere():
            return None
        if self.root is None and torch.is_grad_enabled() and not in_backward():
            if module.training and not self.guard.claim():
                return None
            self.root, self.model, self.entered = module, None, False
            self.begin(module, args)
        return None

    def begin(self, module, args):
        if module.training:
            self.recorder.begin()
            self.losses.end_evaluation()
        self.model = self.models.as_root(module)
        if self.model is not None:
            self.entered = self.enter(args)

    def enter(self, inputs):
        """The batch goes in; False when no tensor is among `inputs`."""
        if not self.recorder.sampled:
            self.recorder.event("used")
            return True
        batch = next((i for i in inputs if tensors.is_plain(i)), None)
        if batch is None:
            return False
        recorder, thing = self.recorder, self.model.thing
        samples = float(batch.shape[0]) if batch.dim() > 0 else 1.0
        recorder.event("used", thing, samples, site=self.sites.current(), owner=thing)
        if not tensors.may_compute() or ("batch", thing) in self.seen():
            return True
        self.seen().add(("batch", thing))
        with torch.no_grad():
            if recorder.digests:
                number = digest([batch])
                recorder.quantity("batch_digest", thing, number >> 32, number & 0xFFFFFFFF)
            floating = (i for i in inputs if tensors.is_plain(i) and i.is_floating_point())
            batch = next(floating, None)
            if batch is not None:
                self.write_norm(thing, batch.detach())
        return True

    def write_norm(self, thing, batch):
        recorder, at = self.recorder, (self.recorder.step, self.recorder.micro_step)

        def write(values):
            aux = 0 if math.isfinite(values[0]) else tensors.count_nonfinite(batch)
            recorder.quantity("input_norm", thing, values[0], aux, at=at)

        recorder.transfer.add(tensors.norms([batch]), write)

    def seen(self):
        """What was recorded once already in this step."""
        step = self.recorder.step
        if step not in self.ran:
            self.ran = {step: set()}
        return self.ran[step]

    def after(self, module, args, kwargs, output):
        if torch.compiler.is_compiling() or self.guard.elsewhere():
            return None
        if module is not self.root:
            if self.recorder.sampled and self.root is not None and not in_backward():
                self.write_forward(module)
        elif not in_backward():
            self.write_forward(module)
            self.end(module, kwargs)
        return None

    def write_forward(self, module):
        if not self.recorder.sampled:
            if self.model is not None:
                self.recorder.event("forward")
            return
        if self.model is None:
            thing = self.models.thing_of_any(module)
        else:
            thing = self.models.module_thing(module, self.root)
        if thing == 0 or thing in self.seen() or not torch.is_grad_enabled():
            return
        self.seen().add(thing)
        owner = self.model.thing if self.model else 0
        site = self.sites.current() if module is self.root else 0
        self.recorder.event("forward", thing, float(module.training), site=site, owner=owner)

    def end(self, module, kwargs):
        self.root, model = None, self.model
        if model is None:
            return
        if not self.entered and kwargs:
            self.enter(kwargs.values())
        if not model.named:
            self.models.name_parameters(model, module)

    def forget(self):
        """After a forward that never ended, because it raised."""
        self.root = None


def in_backward():
    """True while a forward is only repeated for a backward (activation checkpoints)."""
    return torch._C._current_graph_task_id() != -1

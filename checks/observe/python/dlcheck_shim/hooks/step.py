"""Watches optimizer steps: what they consumed, what they did, and the clock of the process."""

import cmath
import functools
import math
import sys

import torch

from ..record.names import EVENTS
from ..state.optimizers import closure_of, first_with_gradients, remember, with_gradients
from ..state.update_check import UpdateCheck
from ..state.weights import Weights
from ..torch_api import tensors
from ..torch_api.attributes import attribute
from ..torch_api.capabilities import in_autocast, is_compiling
from .scalers import was_held_back, write_unscale
from .step_numbers import StepNumbers

SENTINELS = 2  # parameters that are asked whether they were cleared, in a step that is not sampled


class StepHooks:
    def __init__(self, guard, recorder, sites, models, optimizers, uncleared):
        self.guard, self.recorder, self.sites = guard, recorder, sites
        self.models, self.optimizers, self.uncleared = models, optimizers, uncleared
        self.updates = UpdateCheck(recorder)
        self.weights, self.numbers = Weights(recorder), StepNumbers(recorder)
        self.active = None
        self.ended = False  # a step call ended since a scaler last asked
        self.in_closure = False  # of the step under way
        self.enter = guard.isolated("clock")(self.enter)
        self.end = guard.isolated("clock")(self.end)
        self.begin_unsampled = guard.isolated("step")(self.begin_unsampled)
        self.end_unsampled = guard.isolated("clock")(self.end_unsampled)
        self.consume = guard.isolated("step")(self.consume)
        self.measure_before = guard.isolated("step")(self.measure_before)
        self.measure_after = guard.isolated("step")(self.measure_after)

    def before(self, optimizer, args, kwargs):
        """Gives new arguments only when there is a closure, which is then watched too."""
        if is_compiling():
            return None
        if not self.guard.trains_here():
            self.optimizers.leave_alone(optimizer)
            return None
        if self.is_plain_and_unsampled(optimizer, args, kwargs):
            return self.begin_unsampled(optimizer)
        if not self.enter(optimizer):
            return None
        changed = self.measure_before(optimizer, self.active, args, kwargs)
        if self.recorder.sampled:
            self.recorder.parts.begin("optimizer_time")
        return changed

    def is_plain_and_unsampled(self, optimizer, args, kwargs):
        """Most steps of a long run, of which only counts and numbers are recorded."""
        if self.recorder.sampled or self.active is not None or closure_of(args, kwargs) is not None:
            return False
        watched = self.optimizers.watched.get(optimizer)
        return watched is not None and watched.stepped and tensors.may_compute()

    def begin_unsampled(self, optimizer):
        watched = self.active = self.optimizers.watched.get(optimizer)
        watched.elsewhere = False
        self.consume_unsampled(optimizer, watched)

    def enter(self, optimizer):
        """False for a step inside another optimizer's step: it is part of that one."""
        self.recorder.begin()
        self.forget_raised(steps_here=1)
        if self.active is not None and self.active is not self.optimizers.watched.get(optimizer):
            return False
        self.active = self.optimizers.watch(optimizer)
        self.active.elsewhere = False
        return True

    def forget_raised(self, steps_here=0):
        """A step that raised has ended, but no hook said so. Steps under way stand on the stack,
        of which `steps_here` are about to begin."""
        if self.active is not None and steps_on_stack() <= steps_here:
            self.active.before, self.active.copies = [], []
            self.active = None

    def measure_before(self, optimizer, watched, args, kwargs):
        if not tensors.may_compute():
            return None
        if self.recorder.sampled:
            if in_autocast():
                self.recorder.event("autocast_step", watched.thing, site=self.sites.current(),
                                    owner=watched.thing)  # fmt: skip
            with tensors.unrecorded():
                self.models.look_for_gradients()
                if self.recorder.detailed:
                    self.weights.copy(optimizer, watched)
                if self.recorder.digests:
                    self.weights.digest(optimizer, watched)
        closure = closure_of(args, kwargs)
        if closure is None:
            self.consume(optimizer, watched)
            return None
        if not calls_closure_plainly(optimizer):
            return None
        return self.with_watched_closure(optimizer, watched, closure, args, kwargs)

    def with_watched_closure(self, optimizer, watched, closure, args, kwargs):
        """The gradients that count are there only after the closure ran."""

        @functools.wraps(closure)
        def run_and_look(*given, **named):
            self.in_closure = True
            try:
                loss = closure(*given, **named)
            finally:
                self.in_closure = False
            self.consume(optimizer, watched)
            return loss

        if "closure" in kwargs:
            return args, {**kwargs, "closure": run_and_look}
        return (args[0], run_and_look, *args[2:]), kwargs

    def note_backward(self):
        """A backward inside a step, and not of a closure: nobody sees the gradients it works with."""
        if self.active is not None and not self.in_closure:
            self.optimizers.tell(self.active, self.active.thing, "inner_backward", 1)

    def consume(self, optimizer, watched):
        """Measures the gradients as the step is about to use them."""
        if not self.recorder.sampled and watched.stepped:
            return self.consume_unsampled(optimizer, watched)
        self.optimizers.name_parameters(optimizer, watched)
        owners = with_gradients(optimizer)
        self.uncleared.confirm(watched, owners)
        gradients = [p.grad for p in owners]
        watched.consumed = remember(owners)
        watched.consumed_norms = None
        self.recorder.moments.gradients_used(optimizer, watched)
        self.recorder.moments.sampled_gradients_used(optimizer, watched)
        if self.recorder.detailed:
            self.optimizers.look_for_frozen(optimizer, watched)
        if not gradients or not self.recorder.sampled and not needs_norms(gradients):
            return
        self.measure_consumed(optimizer, watched, owners, gradients)

    def consume_unsampled(self, optimizer, watched):
        if self.uncleared.candidates:
            self.uncleared.confirm(watched, with_gradients(optimizer))
        first = first_with_gradients(optimizer, SENTINELS)
        watched.consumed, watched.consumed_norms = remember(first), None
        self.recorder.moments.gradients_used(optimizer, watched)
        if first and needs_norms([p.grad for p in first]):
            self.optimizers.name_parameters(optimizer, watched)
            owners = with_gradients(optimizer)
            self.measure_consumed(optimizer, watched, owners, [p.grad for p in owners])

    def measure_consumed(self, optimizer, watched, owners, gradients):
        with tensors.unrecorded():
            norms = tensors.norms(gradients)
            scale = attribute(optimizer, "grad_scale")
            if isinstance(scale, torch.Tensor):  # a fused step divides by it only inside
                norms = norms / scale
                write_unscale(self.recorder, watched.thing, scale, self.sites.current())
            self.updates.before(optimizer, watched)
        watched.consumed_norms = norms
        things = [watched.things.get(p, 0) for p in owners]
        self.write_gradients(watched.thing, things, owners, norms)

    def write_gradients(self, owner, things, parameters, norms):
        recorder, at = self.recorder, (self.recorder.step, self.recorder.micro_step)
        sampled, on_host = recorder.sampled, norms.is_cpu

        def write(values):
            if not sampled and math.isfinite(sum(values)):
                return
            rows = []
            for thing, parameter, value in zip(things, parameters, values):
                aux = 0
                if not math.isfinite(value):
                    # Read late from an accelerator, the gradient itself is gone.
                    late = int(math.isnan(value))
                    aux = tensors.count_nonfinite(parameter.grad) if on_host else late
                rows.append((thing, value, aux))
            recorder.quantities("gradient_norm", rows, owner, at=at)

        recorder.transfer.add(norms, write)

    def after(self, optimizer, args, kwargs):
        watched = self.optimizers.watched.get(optimizer)
        if is_compiling() or watched is None or self.active is not watched:
            return
        if self.guard.elsewhere():
            return
        if not self.recorder.sampled and watched.stepped:
            self.end_unsampled(optimizer, watched)
            return
        self.recorder.parts.end("optimizer_time")
        self.measure_after(optimizer, watched)
        self.end("skipped" if was_held_back(optimizer) else "step", watched)

    def measure_after(self, optimizer, watched):
        if self.recorder.sampled and tensors.may_compute():
            with tensors.unrecorded():
                if self.recorder.detailed:
                    self.weights.write(optimizer, watched)
                    self.optimizers.look_for_rate_beside(optimizer, watched)
                if watched.copies:
                    self.updates.after(watched)
                if self.recorder.step == 0:
                    self.recorder.moments.first_step_ends()
        self.optimizers.look_for_state(optimizer, watched)
        self.numbers.write(optimizer, watched)

    def end_unsampled(self, optimizer, watched):
        self.active, self.ended = None, True
        self.numbers.write(optimizer, watched)
        self.recorder.count(EVENTS["skipped" if was_held_back(optimizer) else "step"])
        self.end_clock()

    def end(self, event, watched):
        self.active, self.ended = None, True
        if self.recorder.sampled:
            self.recorder.moments.step_ends(watched.thing)
        self.recorder.event(event, watched.thing, site=self.sites.current(), owner=watched.thing)
        if event == "skipped":
            self.recorder.moments.step_held_back()
        self.end_clock()

    def end_clock(self):
        recorder = self.recorder
        recorder.end_step()
        recorder.moments.stepped()
        if recorder.near_sampled:
            recorder.moments.sampled_stepped()

    def skip(self, optimizer):
        """A scaler left the weights alone: the call counts, the optimizer did nothing."""
        self.recorder.begin()
        watched = self.optimizers.watch(optimizer)
        if self.recorder.sampled and tensors.may_compute():
            self.consume(optimizer, watched)
            watched.copies = []
        self.end("skipped", watched)


def calls_closure_plainly(optimizer):
    """True for the steps of torch itself, which ask nothing of a closure but its loss."""
    return getattr(type(optimizer).step, "__module__", "").startswith("torch.optim")


def step_code():
    """What runs around every step; None in a torch that makes its steps otherwise."""
    wrap = getattr(torch.optim.Optimizer, "profile_hook_step", None)
    return None if wrap is None else wrap(lambda optimizer: None).__code__


STEP_CODE = step_code()


def steps_on_stack():
    """How many steps this thread is in; where that cannot be seen, more than there can be."""
    if STEP_CODE is None:
        return sys.maxsize
    frame, count = sys._getframe(1), 0
    while frame is not None:
        count += frame.f_code is STEP_CODE
        frame = frame.f_back
    return count


def needs_norms(gradients):
    """In a step that is not sampled: is something not finite, or does it cost nothing to see?

    An accelerator works out the norms in the background. On the CPU the gradient closest to the
    input is looked at: what is not finite spreads back through the whole model to it.
    """
    sentinel = gradients[0]
    if not sentinel.is_cpu:
        return True
    if len(gradients) > 1 and gradients[1].shape == sentinel.shape[:1] and sentinel.dim() > 0:
        sentinel = gradients[1]  # its bias: what reaches a layer reaches both, and this one is small
    if not tensors.is_plain(sentinel) or sentinel.is_sparse:
        return False
    return not cmath.isfinite(sentinel.sum().item())

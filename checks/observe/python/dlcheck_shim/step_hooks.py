"""Watches optimizer steps: what they consumed, what they did, and the clock of the process."""

import cmath
import functools
import math
import resource
import sys
import time

import torch

from . import tensors
from .capabilities import in_autocast, is_compiling
from .digest import digest
from .optimizers import closure_of, next_to_copy, parameters_of, rate_of, remember
from .scalers import was_held_back, write_unscale
from .update_check import UpdateCheck

FIRST_GRADIENTS = 2
SENTINELS = 4  # parameters that are asked whether they were cleared, in a step that is not sampled


PAGE = resource.getpagesize()


class StepHooks:
    def __init__(self, guard, recorder, sites, models, optimizers, uncleared):
        self.guard, self.recorder, self.sites = guard, recorder, sites
        self.models, self.optimizers, self.uncleared = models, optimizers, uncleared
        self.updates = UpdateCheck(recorder)
        # Functions that take the optimizer's Watched and the parameters that have a gradient, as a
        # step consumes it; and functions that take the optimizer's thing, as a step ends.
        self.on_consume, self.on_end = [], []
        self.last_end, self.active = None, None
        self.ended = False  # a step call ended since a scaler last asked
        self.in_closure = False  # of the step under way
        self.before_first_end, self.after_each = [], []  # functions without arguments
        self.enter = guard.isolated("clock")(self.enter)
        self.end = guard.isolated("clock")(self.end)
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
        if not self.enter(optimizer):
            return None
        return self.measure_before(optimizer, self.active, args, kwargs)

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
            with torch.no_grad():
                self.models.look_for_gradients()
                if self.recorder.detailed:
                    self.copy_weights(optimizer, watched)
                if self.recorder.digests:
                    self.digest_weights(optimizer, watched)
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

    def copy_weights(self, optimizer, watched):
        chosen = next_to_copy(watched, parameters_of(optimizer))
        watched.before = [(parameter, parameter.detach().clone()) for parameter in chosen]

    def digest_weights(self, optimizer, watched):
        if all(map(tensors.is_plain, parameters_of(optimizer))):
            number = digest(parameters_of(optimizer))
            self.recorder.quantity("weights_digest", watched.thing, number >> 32,
                                   number & 0xFFFFFFFF)  # fmt: skip

    def consume(self, optimizer, watched):
        """Measures the gradients as the step is about to use them."""
        if not self.recorder.sampled and watched.stepped:
            return self.consume_unsampled(optimizer, watched)
        self.optimizers.name_parameters(optimizer, watched)
        owners = [p for p in parameters_of(optimizer) if p.grad is not None]
        self.uncleared.confirm(watched, owners)
        gradients = [p.grad for p in owners]
        watched.consumed = remember(owners)
        watched.consumed_norms = None
        for function in self.on_consume:
            function(watched, owners)
        if self.recorder.detailed:
            self.optimizers.look_for_frozen(optimizer, watched)
        if not gradients or not self.recorder.sampled and not needs_norms(gradients):
            return
        self.measure_consumed(optimizer, watched, owners, gradients)

    def consume_unsampled(self, optimizer, watched):
        owners = [p for group in optimizer.param_groups for p in group["params"]
                  if p.grad is not None]  # fmt: skip
        self.uncleared.confirm(watched, owners)
        watched.consumed, watched.consumed_norms = remember(owners[:SENTINELS]), None
        for function in self.on_consume:
            function(watched, owners)
        if owners and needs_norms([p.grad for p in owners[:FIRST_GRADIENTS]]):
            self.optimizers.name_parameters(optimizer, watched)
            self.measure_consumed(optimizer, watched, owners, [p.grad for p in owners])

    def measure_consumed(self, optimizer, watched, owners, gradients):
        with torch.no_grad():
            norms = tensors.norms(gradients)
            scale = getattr(optimizer, "grad_scale", None)
            if isinstance(scale, torch.Tensor):  # a fused step divides by it only inside
                norms = norms / scale
                write_unscale(self.recorder, watched.thing, scale, self.sites.current())
            self.updates.before(optimizer, watched)
        watched.consumed_norms = norms
        things = [watched.things.get(p, 0) for p in owners]
        self.write_gradients(watched.thing, things, owners, norms)

    def write_gradients(self, owner, things, parameters, norms):
        recorder, at = self.recorder, (self.recorder.step, self.recorder.micro_step)
        sampled, on_host = recorder.sampled, norms.device.type == "cpu"

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
        self.measure_after(optimizer, watched)
        self.end("skipped" if was_held_back(optimizer) else "step", watched)

    def measure_after(self, optimizer, watched):
        if self.recorder.sampled and tensors.may_compute():
            with torch.no_grad():
                if self.recorder.detailed:
                    self.write_weights(optimizer, watched)
                if watched.copies:
                    self.updates.after(watched)
                if self.recorder.step == 0:
                    for function in self.before_first_end:
                        function()
        self.optimizers.look_for_state(optimizer, watched)
        self.write_scalars(optimizer, watched)

    def end(self, event, watched):
        self.active, self.ended = None, True
        if self.recorder.sampled:
            for function in self.on_end:
                function(watched.thing)
        self.recorder.event(event, watched.thing, site=self.sites.current(), owner=watched.thing)
        self.recorder.end_step()
        for function in self.after_each:
            function()

    def write_weights(self, optimizer, watched):
        parameters = [p for p in parameters_of(optimizer) if p.device.type != "meta"]
        if not parameters:
            return
        recorder, at = self.recorder, (self.recorder.step, self.recorder.micro_step)
        before, watched.before = watched.before, []
        changes = [old for _, old in before]
        if changes:
            torch._foreach_sub_(changes, [p.detach() for p, _ in before])
        measured = [p.detach() for p in parameters] + changes
        things = [watched.things.get(p, 0) for p in parameters]
        changed = [watched.things.get(p, 0) for p, _ in before]

        def write(values):
            rows = []
            for thing, parameter, value in zip(things, parameters, values):
                aux = 0 if math.isfinite(value) else tensors.count_nonfinite(parameter.detach())
                rows.append((thing, value, aux))
            recorder.quantities("weight_norm", rows, watched.thing, at=at)
            rows = [(thing, value, 0) for thing, value in zip(changed, values[len(things) :])]
            recorder.quantities("update_norm", rows, watched.thing, at=at)

        recorder.transfer.add(tensors.norms(measured), write)

    def write_scalars(self, optimizer, watched):
        recorder = self.recorder
        now = time.perf_counter()
        if recorder.takes_scalars():
            for thing, group in zip(watched.groups, optimizer.param_groups):
                rate = rate_of(group)
                if rate is not None:
                    recorder.quantity("learning_rate", thing, rate, owner=watched.thing)
        if recorder.sampled:
            if self.last_end is not None:
                recorder.quantity("step_time", 0, now - self.last_end, owner=watched.thing)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            recorder.quantity("memory", 0, peak, owner=watched.thing)
            if recorder.detailed:
                self.write_resident(watched)
            if torch.is_anomaly_enabled():
                thing = recorder.thing("facility", 0, "anomaly detection")
                recorder.event("debugging", thing)
        self.last_end = now

    def write_resident(self, watched):
        try:
            with open("/proc/self/statm", "rb") as file:
                pages, shared = map(int, file.read().split()[1:3])
        except (OSError, ValueError, IndexError):
            return
        self.recorder.quantity("resident_memory", 0, float((pages - shared) * PAGE), owner=watched.thing)

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
    if gradients[0].device.type != "cpu":
        return True
    first = [g for g in gradients[:FIRST_GRADIENTS] if tensors.is_plain(g) and not g.is_sparse]
    if not first:
        return False
    sentinel = first[0]
    if len(first) > 1 and sentinel.dim() > 0 and first[1].shape == sentinel.shape[:1]:
        sentinel = first[1]  # its bias: what reaches a layer reaches both, and this one is small
    return not cmath.isfinite(sentinel.sum().item())

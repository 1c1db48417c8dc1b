"""Watches torch.autograd.backward: the loss it starts from, and what the gradients hold before
it."""

import math

import torch

from ..autograd.loss_graph import loss_behind, scale_behind, terms_behind
from ..autograd.nonfinite_origin import Births
from ..autograd.raised_errors import is_raised_error
from ..record import names
from ..source.operation_lines import line_of
from ..torch_api import private, tensors
from ..torch_api.capabilities import is_compiling
from ..torch_api.wrapping import Around
from .loss_lines import LossLines
from .not_zeroed import held_norms

BACKWARD = names.EVENTS["backward"]
# Steps of a run in which a loss made by hand is looked at, shape by shape.
STEPS_WITH_SHAPES = 4


class BackwardHooks:
    def __init__(self, guard, recorder, sites, optimizers, uncleared, losses, forwards, steps, graphs, raised, looks):
        """`looks`: what is called with each loss of a sampled step whose graph is still whole."""
        self.recorder, self.sites, self.optimizers = recorder, sites, optimizers
        self.uncleared, self.losses, self.forwards = uncleared, losses, forwards
        self.steps, self.graphs, self.raised, self.looks = steps, graphs, raised, looks
        self.guard, self.lines = guard, LossLines(guard, recorder, sites)
        self.births = Births(guard, recorder, optimizers.models, lambda name: line_of(name, sites.own_files()))
        self.before = guard.isolated("backward")(self.before)
        self.before_unsampled = guard.isolated("backward")(self.before_unsampled)
        self.look = guard.isolated("loss")(self.look)
        self.after = guard.isolated("backward", asks_tensors=False)(self.after)

    def before(self, loss, keeps_graph, of_gradients):
        recorder = self.recorder
        recorder.begin()
        self.forwards.forget()
        self.steps.forget_raised()
        self.steps.note_backward()
        self.forwards.evaluations.end()
        site = self.sites.current()
        if recorder.sampled:
            recorder.moments.backward_begins()
        if tensors.may_compute():
            self.uncleared.before_backward()
            if recorder.sampled and recorder.micro_step == 0:
                held_norms(self.optimizers, recorder, site)
        thing, samples = self.losses.of_backward(loss)
        if recorder.takes_scalars() and is_number(loss):
            self.write_loss(loss, thing, samples, site)
        if recorder.sampled and is_number(loss) and tensors.may_compute():
            self.look(loss)
        recorder.event("backward", thing, float(keeps_graph and not of_gradients),
                       float(of_gradients), site=site)  # fmt: skip
        if recorder.sampled:
            self.lines.note(thing)

    def before_unsampled(self, loss):
        """The same in a step of which only counts and numbers are recorded."""
        recorder = self.recorder
        self.forwards.forget()
        self.forwards.evaluations.end()
        if self.steps.active is not None:
            self.steps.forget_raised()
        recorder.moments.unsampled_backward_begins()
        self.uncleared.before_backward()
        thing, samples = self.losses.of_backward(loss)
        if recorder.takes_scalars() and is_number(loss):
            self.write_loss(loss, thing, samples, 0)
        recorder.count(BACKWARD)

    def look(self, loss):
        """What the graph of a loss says about it, before the backward takes it apart."""
        recorder = self.recorder
        self.graphs.add(loss)
        for look in self.looks:
            look(loss)
        found = loss_behind(loss)
        if found is not None:
            self.write_share("loss_share", *found)
            return
        for made, factor in terms_behind(loss):
            self.write_share("loss_term_share", made, factor)
        if recorder.step < STEPS_WITH_SHAPES:
            self.losses.tell_spread(loss)
            if is_raised_error(loss):
                recorder.quantity("raised_error", self.losses.unnamed(), 1.0, site=self.sites.current())

    def write_share(self, quantity, made, factor):
        """`made`: as `mark_loss` has it. The count of targets on an accelerator is a tensor, which arrives later."""
        (thing, share, targets), recorder = made, self.recorder
        if not isinstance(targets, torch.Tensor):
            recorder.quantity(quantity, thing, share * factor, float(targets))
            return
        of_sum, at = share is targets, (recorder.step, recorder.micro_step)
        recorder.transfer.add(
            targets.reshape(1),
            lambda v: v[0] > 0 and recorder.quantity(quantity, thing, (v[0] if of_sum else share) * factor, v[0], at=at),
        )

    def write_loss(self, loss, thing, samples, site):
        """The loss as the program means it: without the scale of a loss scaler."""
        recorder, scale = self.recorder, scale_behind(loss)
        if loss.is_cpu:
            value = loss.item() / (1.0 if scale is None else scale.item() or 1.0)
            recorder.quantity("loss", thing, value, samples, site)
            if not math.isfinite(value):
                recorder.moments.loss_is_nonfinite()
                self.births.tell(loss, thing)
            return
        at = (recorder.step, recorder.micro_step)
        number = loss.detach()
        recorder.transfer.add(
            (number if scale is None else number / scale.to(loss.device)).reshape(1),
            lambda values: recorder.quantity("loss", thing, values[0], samples, site, at=at),
        )

    def after(self):
        sampled = self.recorder.sampled
        self.recorder.end_backward()
        self.recorder.moments.backward_ended()
        if sampled:
            self.recorder.moments.sampled_backward_ended()


def is_number(loss):
    return tensors.is_plain(loss) and loss.numel() == 1 and not loss.is_complex()


def first_of(roots):
    """The root of a backward, or the first of several."""
    if isinstance(roots, torch.Tensor) or not isinstance(roots, (list, tuple)):
        return roots
    return roots[0] if roots else None


def graph_options(args, kwargs):
    """Whether the graph is asked to be kept, and whether one of the gradients is; `args` begin
    with the gradients of the roots."""
    create = kwargs.get("create_graph", args[2] if len(args) > 2 else False)
    retain = kwargs.get("retain_graph", args[1] if len(args) > 1 else None)
    return bool(retain), bool(create)


def around_backward(hooks):
    """Goes around torch.autograd.backward, which Tensor.backward looks up at each call."""

    def before(args, kwargs):
        # A backward inside a backward belongs to the outer one (reentrant checkpoints).
        if is_compiling() or private.current_graph_task_id() != -1:
            return None
        if not hooks.guard.trains_here():
            return None
        hooks.raised.begins("backward", lambda: [torch.autograd.backward])
        tensors, *options = args if args else (kwargs.get("tensors"),)
        if hooks.recorder.sampled or not isinstance(tensors, torch.Tensor):
            hooks.before(first_of(tensors), *graph_options(options, kwargs))
        else:
            hooks.before_unsampled(tensors)
        hooks.guard.in_backward = True
        if hooks.recorder.sampled:
            hooks.recorder.parts.begin("backward_time")
        return hooks

    def returned(_, result):
        hooks.raised.returns("backward")

    def ended(_):
        hooks.guard.in_backward = False
        if hooks.recorder.sampled:
            hooks.recorder.parts.end("backward_time")
        hooks.after()  # one that raised has begun all the same

    return Around(before, returned, ended)

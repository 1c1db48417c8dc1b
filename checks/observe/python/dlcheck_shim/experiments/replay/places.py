"""Where an operation stands: in which module, at which line of the program, forward, backward or in the
optimizer's step. A backward is where the forward that it belongs to was."""

import dataclasses

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from ...autograd.nonfinite_origin import spelled
from ...moments import Moment
from ...state import walking
from ...state.optimizers import closure_of
from ...torch_api import private
from ...torch_api.wrapping import replace

FORWARD, BACKWARD, UPDATE = "forward", "backward", "update"


@dataclasses.dataclass
class Place:
    phase: str
    module: str  # its name in the model; empty outside of all modules
    site: int
    behind: str = ""  # of a backward: the operation that it belongs to


class Places:
    def __init__(self, watch):
        self.watch = watch
        self.stack = []  # modules under way, each with the backward in which it was called
        self.updating = False
        self.batch = 0  # samples in the batch of the last training forward
        self.called = Moment()  # (module, args, kwargs): an outermost training forward begins
        self.forwards = {}  # places by the number of the node that was made there
        self.names = {}  # of modules, by their root and their own id

    def begin(self):
        replace([torch.nn.Module], "__call__", self.watched_call)
        register_optimizer_step_pre_hook(self.before_step)
        register_optimizer_step_post_hook(self.after_step)

    def watched_call(self, original):
        def call(module, *args, **kwargs):
            if self.watch.guard.elsewhere():
                return original(module, *args, **kwargs)
            if not self.stack and module.training and torch.is_grad_enabled():
                self.enter(module, args, kwargs)
            self.stack.append((module, private.current_graph_task_id()))
            try:
                return original(module, *args, **kwargs)
            finally:
                self.stack.pop()

        return call

    def enter(self, module, args, kwargs):
        if next(walking.parameters(module), None) is None:  # a bare function, as a loss is
            return
        for value in (*args, *kwargs.values()):
            if isinstance(value, torch.Tensor) and value.dim() > 0:
                self.batch = value.shape[0]
                break
        self.called(module, args, kwargs)

    def before_step(self, optimizer, args, kwargs):
        self.updating = closure_of(args, kwargs) is None

    def after_step(self, optimizer, args, kwargs):
        self.updating = False

    def end_step(self):
        self.forwards = {}

    def current(self):
        """The place of the operation under way."""
        task = private.current_graph_task_id()
        if task != -1 and not (self.stack and self.stack[-1][1] == task):
            return self.in_backward(private.current_node())
        phase = UPDATE if self.updating else FORWARD
        place = Place(phase, self.module(), self.watch.forwards.sites.current(always=True))
        self.forwards.setdefault(private.next_sequence_number() - 1, place)
        return place

    def in_backward(self, node):
        if node is None:
            return Place(BACKWARD, "", 0)
        known = self.forwards.get(private.sequence_number_of(node))
        module, site = (known.module, known.site) if known else ("", 0)
        return Place(BACKWARD, module, site, spelled(node.name()))

    def module(self):
        if not self.stack:
            return ""
        root, module = self.stack[0][0], self.stack[-1][0]
        if id(root) not in self.names:
            model = self.watch.models.roots.get(root)
            canonical = model.name if model is not None else str
            self.names[id(root)] = {
                id(part): canonical(name) for name, part in walking.named_modules(root)
            }
        return self.names[id(root)].get(id(module)) or type(module).__name__

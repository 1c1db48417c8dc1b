"""What the backward calls of a step start from, and what they add to the gradients: of a whole window
of them, whatever the program does to the gradients in between."""

import torch

from ...torch_api import private, tensors
from ...torch_api.capabilities import is_compiling
from ...torch_api.wrapping import replace
from .gradients import dense
from .unjudged import Unjudged


class Window:
    """Of the step under way, from `open` on."""

    def __init__(self, watch):
        self.watch, self.parameters, self.cuts = watch, None, None
        self.losses = self.last = ()
        self.gradient = self.reason = None
        self.around = watch.guard.isolated("slope", runs_program=True)(self.before), watch.guard.isolated("slope", runs_program=True)(self.after)

    def begin(self):
        replace([torch.autograd], "backward", self.watched)

    def watched(self, original):
        def backward(roots, *args, **kwargs):
            if self.parameters is None or is_compiling() or private.current_graph_task_id() != -1:
                return original(roots, *args, **kwargs)
            before, after = self.around
            before(roots, args, kwargs)
            original(roots, *args, **kwargs)
            after()

        return backward

    def open(self, parameters):
        self.parameters = parameters
        self.end_step()

    def close(self):
        self.parameters = self.cuts = self.gradient = None

    def end_step(self):
        if self.parameters is not None:
            self.last, self.losses = self.losses, ()
            self.gradient = [None] * len(self.parameters)

    def before(self, roots, args, kwargs):
        roots = (roots,) if isinstance(roots, torch.Tensor) else tuple(roots)
        if args and args[0] is not None or kwargs.get("grad_tensors") is not None:
            self.reason = "backward() is called with a gradient argument"
        if not all(tensors.is_plain(root) and root.numel() == 1 for root in roots):
            self.reason = "backward() does not start from a floating-point tensor"
            return
        self.losses += tuple(float(root.detach()) for root in roots)
        self.resolution = max(torch.finfo(root.dtype).eps for root in roots)
        self.held = [copy_of(parameter) for parameter in self.parameters]
        if self.cuts is not None:
            self.cuts.look_at_graph(roots)

    def after(self):
        """Of each gradient, what this backward added to it."""
        with tensors.unrecorded():
            for place, (parameter, before) in enumerate(zip(self.parameters, self.held)):
                if parameter.grad is not None:
                    self.add(place, dense(parameter.grad.detach()).double(), before)
        self.held = None
        if self.cuts is not None:
            self.cuts.end_backward()

    def add(self, place, gradient, before):
        added = gradient if before is None else gradient - before
        known = self.gradient[place]
        self.gradient[place] = added if known is None else known + added

    def take(self):
        """(what its backward calls start from, the gradient that they add), once both are known."""
        if self.reason is not None:
            raise Unjudged(self.reason)
        if not self.losses:
            raise Unjudged("no backward() was observed")
        if self.losses != self.last:
            raise Unjudged("the loss depends on earlier steps")
        return self.losses, self.gradient


def copy_of(parameter):
    with tensors.unrecorded():
        return None if parameter.grad is None else dense(parameter.grad.detach()).double()

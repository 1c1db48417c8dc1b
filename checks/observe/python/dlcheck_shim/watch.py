"""Puts the parts of the probe together and into torch; called once, as torch has been imported."""

import atexit
import platform
import sys
import warnings

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from . import experiments
from .backward_hooks import BackwardHooks, watched_backward
from .calls import Calls
from .forward_hooks import ForwardHooks
from .guard import Guard
from .loss_hooks import KINDS, LossHooks
from .models import Models
from .optimizers import Optimizers
from .recorder import Recorder
from .sites import Sites
from .step_hooks import StepHooks
from .uncleared import Uncleared
from .wrapping import followed_by, replace


class Watch:
    def __init__(self, request):
        self.recorder = recorder = Recorder(request, process_attributes())
        self.guard = Guard(self.write_failure, self.write_unseen)
        recorder.on_fork.append(self.guard.reset)
        sites = Sites(recorder)
        self.models = models = Models(recorder)
        optimizers = Optimizers(recorder, models)
        uncleared = Uncleared(recorder, optimizers)
        self.losses = LossHooks(recorder, sites)
        self.forwards = ForwardHooks(self.guard, recorder, sites, models, self.losses)
        self.steps = StepHooks(self.guard, recorder, sites, models, optimizers, uncleared)
        self.backwards = BackwardHooks(
            self.guard, recorder, sites, optimizers, uncleared, self.losses, self.forwards,
            self.steps,
        )  # fmt: skip
        self.calls = Calls(self.guard, recorder, sites, models, optimizers, self.steps)

    def begin(self):
        experimenting = self.recorder.request.experiment != "plain"
        ending = experiments.Ending(self.recorder)
        if experimenting:
            experiments.keep_files_safe(ending)
        self.steps.before_first_end.append(self.losses.write_initial)
        self.watch_modules()
        for function in KINDS:
            self.watch_loss(function)
        replace([torch.autograd], "backward", self.watched_backward)
        self.watch_optimizers()
        self.calls.watch_all()
        numpy = sys.modules.get("numpy")
        if numpy is not None and hasattr(numpy, "random"):
            self.calls.watch_numpy(numpy)
        steps = self.recorder.request.steps
        if steps is not None:
            self.steps.after_each.append(lambda: ending.stop_after(steps))
        if experimenting:
            experiments.begin(self.recorder.request, self, ending)
        atexit.register(self.guard.isolated("exit", anywhere=True)(self.recorder.finish))

    def watched_backward(self, original):
        return watched_backward(original, self.backwards)

    def watch_modules(self):
        module = torch.nn.modules.module
        module.register_module_forward_pre_hook(self.forwards.before)
        module.register_module_forward_hook(self.forwards.after, with_kwargs=True)
        # torch warns that hooks see a compiled module twice; the program did not ask for ours.
        warnings.filterwarnings(
            "ignore", message="Using `torch.compile\\(module\\)` when there are global hooks"
        )

    def watch_loss(self, function):
        seen = self.guard.isolated("loss")(self.losses.seen)
        replace(
            [torch.nn.functional],
            function,
            followed_by(lambda result, args, kwargs: seen(function, result, args, kwargs)),
        )

    def watch_optimizers(self):
        register_optimizer_step_pre_hook(self.steps.before)
        register_optimizer_step_post_hook(self.steps.after)

    def write_failure(self, family, error):
        text = f"{type(error).__name__}: {error}"
        self.recorder.attribute(0, f"hook_failed/{family}", text)

    def write_unseen(self, threads):
        self.recorder.attribute(0, "unseen_threads", threads)


def process_attributes():
    return {
        "capabilities": "plain same_seed one_batch reference blind",
        "torch": torch.__version__,
        "python": platform.python_version(),
        "program": sys.argv[0] if sys.argv else "",
    }

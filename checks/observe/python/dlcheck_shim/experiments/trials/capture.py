"""What a training forward of a root module was given, kept for the trials at the end of the step."""

import torch

from ...hooks.loss import ORDER, reduction_of
from ...torch_api.capabilities import is_compiling
from ...torch_api.wrapping import replace

FIRST_STEP = 1  # its weights have moved once
LAST_STEP = 8  # in which models are tried; after it, they only predict


class Call:
    """One forward: the module, and copies of the tensors among its arguments."""

    def __init__(self, module, args, kwargs):
        self.module = module
        self.args, self.kwargs = mapped((args, kwargs), lambda t: t.detach().clone())
        self.targets = []  # of the losses that followed, as given to them
        self.all_count = []  # of each: whether every target has a part in its one number

    def tensors(self):
        found = []
        mapped((self.args, self.kwargs), lambda t: found.append(t) or t)
        return found

    def others(self):
        """All that is given beside tensors."""
        return [leaf for leaf in leaves((self.args, self.kwargs)) if not isinstance(leaf, torch.Tensor)]

    def changed(self, change):
        """The arguments with `change(tensor)` in the place of each tensor."""
        return mapped((self.args, self.kwargs), change)


def mapped(value, change):
    """The same nest of tuples, lists and dictionaries with `change` applied to every tensor."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(mapped(item, change) for item in value)
    if isinstance(value, dict):
        made = {key: mapped(item, change) for key, item in value.items()}
        return made if type(value) is dict else type(value)(made)
    return value


def leaves(value):
    """Everything in a nest of tuples, lists and dictionaries."""
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(leaves, value), []) if isinstance(value, (list, tuple)) else [value]


def all_count(target, ignored, options):
    weight = options.get("weight")
    if reduction_of(options) == "none" or bool((target == ignored).any()):
        return False
    return weight is None or bool((weight[target] != 0).all())


class Capture:
    """Keeps the first training forward of each root module in a step."""

    def __init__(self, watch):
        self.watch, self.calls, self.inside = watch, {}, False

    def begin(self):
        replace([torch.nn.Module], "__call__", self.watched_call)
        for function in ("cross_entropy", "nll_loss"):
            replace([torch.nn.functional], function, self.watched_loss)

    def watched_call(self, original):
        def call(module, *args, **kwargs):
            if (is_compiling() or self.inside or not module.training
                    or not torch.is_grad_enabled() or self.watch.guard.elsewhere()):  # fmt: skip
                return original(module, *args, **kwargs)
            model = self.watch.models.as_root(module)
            if model is None or model in self.calls or self.watch.recorder.step < FIRST_STEP:
                return original(module, *args, **kwargs)
            self.calls[model] = Call(module, args, kwargs)
            self.inside = True
            try:
                return original(module, *args, **kwargs)
            finally:
                self.inside = False

        return call

    def watched_loss(self, original):
        """The targets of a loss belong to every model that was called before it in the step."""

        def loss(input, target, *args, **kwargs):
            if not is_compiling() and not target.is_floating_point():
                options = dict(zip(ORDER["cross_entropy"][2:], args)) | kwargs  # alike in both
                ignored = options.get("ignore_index", -100)
                for call in self.calls.values():
                    call.targets.append((target.detach().clone(), ignored))
                    call.all_count.append(all_count(target, ignored, options))
            return original(input, target, *args, **kwargs)

        return loss

    def take(self):
        calls, self.calls = self.calls, {}
        return calls

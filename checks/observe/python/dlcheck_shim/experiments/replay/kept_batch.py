"""What the models of a step were called with and what its losses compared with, kept where the user asks
for it."""

import inspect
import os

import torch

from ...hooks.loss import KINDS, ORDER
from ...torch_api.wrapping import followed_by, replace
from ..trials.capture import Call


class KeptBatch:
    def __init__(self, request, places):
        self.file = os.path.join(request.run_folder, "batch.pt")
        self.places = places
        self.clear()

    def begin(self):
        self.places.called.append(self.called)
        for function in KINDS:
            def take(_, args, kwargs, function=function):
                self.compared(function, args, kwargs)

            replace([torch.nn.functional], function, followed_by(take))

    def clear(self):
        self.calls, self.targets = [], []

    def called(self, module, args, kwargs):
        self.calls.append(Call(module, args, kwargs))

    def compared(self, function, args, kwargs):
        options = dict(zip(ORDER[function], args)) | kwargs
        if isinstance(options.get("target"), torch.Tensor):
            self.targets.append(options["target"].detach().clone())

    def save(self, step):
        """The path of the file."""
        called = [{"model": type(call.module).__name__, "args": call.args, "kwargs": call.kwargs}
                  for call in self.calls]  # fmt: skip
        save = inspect.unwrap(torch.save)  # what the program saves is kept away from where it saves it
        save({"step": step, "calls": called, "targets": self.targets}, self.file)
        return self.file

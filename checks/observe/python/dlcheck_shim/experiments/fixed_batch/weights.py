"""What rounding alone does to a step: its weights are moved by one unit of the coarsest numbers that its
forward works with, and put back."""

import torch

from ...torch_api import tensors
from ...torch_api.capabilities import is_compiling, register_forward_hook


class Resolution:
    """The coarsest resolution of the outputs of all modules that ran in training."""

    def __init__(self, guard):
        self.guard, self.coarsest = guard, 0.0

    def begin(self):
        register_forward_hook(self.look)

    def look(self, module, args, kwargs, output):
        if is_compiling() or not torch.is_grad_enabled() or self.guard.elsewhere():
            return
        for part in output if isinstance(output, (list, tuple)) else (output,):
            if isinstance(part, torch.Tensor) and part.is_floating_point():
                self.coarsest = max(self.coarsest, torch.finfo(part.dtype).eps)


class Jitter:
    """As a context, the weights are moved, each up or down."""

    def __init__(self, parameters, resolution):
        self.parameters, self.resolution = parameters, resolution

    def __enter__(self):
        source = torch.Generator().manual_seed(1)
        with tensors.unrecorded():
            self.kept = [parameter.detach().clone() for parameter in self.parameters]
            for parameter in self.parameters:
                unit = max(self.resolution, torch.finfo(parameter.dtype).eps)
                signs = torch.randint(2, parameter.shape, generator=source) * 2 - 1
                parameter.data.mul_(1 + unit * signs.to(parameter.device, parameter.dtype))

    def __exit__(self, *error):
        with tensors.unrecorded():
            for parameter, kept in zip(self.parameters, self.kept):
                parameter.data.copy_(kept)
        self.kept = []

"""Puts other code in the place of the `step` of every optimizer that the program makes.

The program keeps its own optimizer objects, with their groups, their state and their schedulers.
"""

import types

import torch

from ...state.optimizers import closure_of
from ...torch_api.wrapping import replace


class OtherSteps:
    """A derived class has `instead(optimizer, args, kwargs)`, which gives what `step` is to give."""

    def __init__(self):
        self.building = False  # an optimizer of our own, which is left as it is

    def take_over(self):
        replace([torch.optim.Optimizer], "__init__", self.watched_construction)

    def watched_construction(self, original):
        def construct(optimizer, *args, **kwargs):
            original(optimizer, *args, **kwargs)
            if not self.building:
                # A bound method, as schedulers take its function apart.
                optimizer.step = types.MethodType(self.make_step(), optimizer)
                self.made(optimizer)

        return construct

    def made(self, optimizer):
        """What is to be done to an optimizer of the program as it is made."""

    def make_step(self):
        def step(optimizer, *args, **kwargs):
            return self.instead(optimizer, args, kwargs)

        return step


def loss_of(optimizer, args, kwargs):
    """What the closure of a step gives, called once as every optimizer calls it; None without one."""
    closure = closure_of((optimizer, *args), kwargs)
    if closure is None:
        return None
    with torch.enable_grad():
        return closure()

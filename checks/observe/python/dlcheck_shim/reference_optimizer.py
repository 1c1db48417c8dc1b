"""Puts Adam in the place of every optimizer of the program, for experiments that ask whether the
model can learn at all and not whether the program's optimizer can.

The program keeps its own optimizer object, with its groups, its state and its schedulers; only its
`step` works through another.
"""

import types

import torch

from .identity import IdentityMap
from .optimizers import closure_of, parameters_of
from .wrapping import replace


class ReferenceOptimizers:
    def __init__(self, rate):
        self.rate, self.building = rate, False
        self.references = IdentityMap()  # of the program's optimizers: (parameters, Adam)

    def take_over(self):
        replace([torch.optim.Optimizer], "__init__", self.watched_construction)

    def watched_construction(self, original):
        def construct(optimizer, *args, **kwargs):
            original(optimizer, *args, **kwargs)
            if not self.building:
                # A bound method, as schedulers take its function apart.
                optimizer.step = types.MethodType(self.make_step(), optimizer)

        return construct

    def make_step(self):
        def step(optimizer, *args, **kwargs):
            loss, closure = None, closure_of((optimizer, *args), kwargs)
            if closure is not None:
                with torch.enable_grad():
                    loss = closure()
            self.reference_for(optimizer).step()
            return loss

        return step

    def reference_for(self, optimizer):
        parameters = parameters_of(optimizer)
        known = self.references.get(optimizer)
        if known is None or known[0] != len(parameters):
            self.building = True
            known = (len(parameters), torch.optim.Adam(parameters, lr=self.rate))
            self.building = False
            self.references.set(optimizer, known)
        return known[1]

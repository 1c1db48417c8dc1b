"""Puts Adam in the place of every optimizer of the program, for experiments that ask whether the
model can learn at all and not whether the program's optimizer can.
"""

import torch

from ...record.identity import IdentityMap
from ...state.optimizers import parameters_of
from ..zero_lr.other_steps import OtherSteps, loss_of


class ReferenceOptimizers(OtherSteps):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate
        self.references = IdentityMap()  # of the program's optimizers: (parameters, Adam)

    def instead(self, optimizer, args, kwargs):
        loss = loss_of(optimizer, args, kwargs)
        self.reference_for(optimizer).step()
        return loss

    def reference_for(self, optimizer):
        parameters = parameters_of(optimizer)
        known = self.references.get(optimizer)
        if known is None or known[0] != len(parameters):
            self.building = True
            known = (len(parameters), torch.optim.Adam(parameters, lr=self.rate))
            self.building = False
            self.references.set(optimizer, known)
        return known[1]

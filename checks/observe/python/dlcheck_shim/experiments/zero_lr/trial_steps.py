"""Steps on trial: an optimizer steps at two rates from the same weights, the same gradients and the same
state, which are put back."""

import copy

import torch

from ...torch_api import tensors
from ..trials.bench import Randomness

RATES = (0.0, 0.5)


def rate_is_unread(guard, optimizer):
    """Whether steps at two rates move some weight, and all of them to the same bits; None where that cannot
    be told."""
    groups = optimizer.param_groups
    parameters = list({id(p): p for group in groups for p in group["params"]}.values())
    if not tensors.may_compute() or not all(map(tensors.is_readable, parameters)):
        return None
    if not all(isinstance(group.get("lr"), float) for group in groups):
        return None
    kept, randomness = Kept(optimizer, parameters), Randomness()
    ends = []
    for rate in RATES:
        for group in groups:
            group["lr"] = rate
        try:
            with guard.resting():
                type(optimizer).step(optimizer)
            as_set = all(group["lr"] == rate for group in groups)
        finally:
            ends.append([p.detach().clone() for p in parameters])
            kept.put_back()
            randomness.restore()
        if not as_set:
            return None
    if not all(map(torch.equal, *ends)):
        return False
    return True if not all(map(torch.equal, kept.weights, ends[0])) else None


class Kept:
    """What a step of an optimizer changes, as it was; `put_back` may be called again."""

    def __init__(self, optimizer, parameters):
        self.optimizer, self.parameters = optimizer, parameters
        self.weights = [p.detach().clone() for p in parameters]
        self.gradients = [None if p.grad is None else p.grad.detach().clone() for p in parameters]
        self.rates = [group["lr"] for group in optimizer.param_groups]
        self.state = {p: copy.deepcopy(state) for p, state in optimizer.state.items()}

    def put_back(self):
        with tensors.unrecorded():
            for parameter, weights, gradient in zip(self.parameters, self.weights, self.gradients):
                parameter.data.copy_(weights)
                if gradient is not None and parameter.grad is not None:
                    parameter.grad.data.copy_(gradient)
        for group, rate in zip(self.optimizer.param_groups, self.rates):
            group["lr"] = rate
        self.optimizer.state.clear()
        self.optimizer.state.update({p: copy.deepcopy(state) for p, state in self.state.items()})


"""What the first step of a process begins from, and what it comes to."""

import torch

from ...state.optimizers import parameters_of
from ...torch_api import tensors
from ..fixed_batch.fetches import Fetches
from ..fixed_batch.gradients import Gradient
from ..substitution.substitutes import switch_dropout_off
from ..trials.bench import Randomness


class FirstStep:
    """Calls `compare(weights, gradient)` as the first optimizer step is about to use its gradients."""

    def __init__(self, watch, refuse):
        self.watch, self.refuse = watch, refuse
        self.fetches = self.make_fetches()
        self.randomness = Randomness()
        self.consumed = False
        self.consume = watch.guard.isolated("ranks", runs_program=True)(self.consume)

    def make_fetches(self):
        return Fetches(self.watch, self.fetched, self.refuse)

    def begin(self):
        switch_dropout_off()
        self.fetches.begin()
        self.watch.moments.gradients_used.append(self.consume)

    def fetched(self):
        """Only what is drawn after a batch is drawn by the step."""
        self.randomness = Randomness()

    def consume(self, optimizer, _):
        if self.consumed or not tensors.may_compute():
            return
        self.consumed = True
        parameters = parameters_of(optimizer)
        if not all(map(tensors.is_plain, parameters)):
            self.refuse("the weights are sharded, or are not plain tensors")
        if not self.randomness.equals(Randomness()):
            self.refuse("the steps draw random numbers")
        with tensors.unrecorded():
            weights = [parameter.detach().clone() for parameter in parameters]
        self.compare(weights, Gradient(parameters))


def world():
    """(rank, number of processes) of this one."""
    distributed = torch.distributed
    if not distributed.is_available() or not distributed.is_initialized():
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()

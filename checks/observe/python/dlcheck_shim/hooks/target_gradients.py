"""Tells of losses whose target has a gradient of its own, so that a backward changes what makes the target."""

import torch

from ..torch_api.attributes import attribute

MOST_CALLS = 16  # sampled ones, of which the targets are looked at
MOST_NODES = 256  # of the graph behind a target


class TargetGradients:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.calls = 0

    def subscribe(self, moments):
        moments.loss_compared.append(self.loss_examined)

    def loss_examined(self, call):
        """A target without a graph says nothing and costs nothing. One that is a parameter itself is meant to learn."""
        if call.target.grad_fn is None or self.calls >= MOST_CALLS:
            return
        self.calls += 1
        found = parameters_behind(call.target.grad_fn)
        if found > 0:
            self.recorder.quantity("target_gradient", call.thing, float(found), float(not call.output.requires_grad),
                                   site=self.sites.current())  # fmt: skip


def parameters_behind(node):
    """How many parameters the graph reaches, as far as it is walked."""
    waiting, met, found = [node], {node}, set()
    while waiting and len(met) < MOST_NODES:
        for before, _ in waiting.pop().next_functions:
            if before is None or before in met:
                continue
            met.add(before)
            waiting.append(before)
            if before.name().endswith("AccumulateGrad"):
                variable = attribute(before, "variable")
                found |= {id(variable)} if type(variable) is torch.nn.Parameter else set()
    return len(found)

"""Weights are averaged over time, swapped in to be evaluated and out again to train on."""

import copy
import sys
from contextlib import contextmanager

import torch
from torch import nn


class Average:
    def __init__(self, model, decay=0.98):
        self.decay = decay
        self.shadow = {k: v.detach().clone() for k, v in model.state_dict().items()}

    def update(self, model):
        for name, value in model.state_dict().items():
            if value.dtype.is_floating_point:
                self.shadow[name].mul_(self.decay).add_(value.detach(), alpha=1 - self.decay)
            else:
                self.shadow[name].copy_(value)

    @contextmanager
    def applied(self, model):
        backup = copy.deepcopy(model.state_dict())
        model.load_state_dict(self.shadow)
        try:
            yield
        finally:
            model.load_state_dict(backup)


@torch.no_grad()
def accuracy(model, inputs, targets):
    model.eval()
    result = (model(inputs).argmax(1) == targets).float().mean().item()
    model.train()
    return result


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
inputs = torch.rand(2000, 2) * 4 - 2
targets = ((inputs.norm(dim=1) > 0.8).long() + (inputs.norm(dim=1) > 1.6).long())
model = nn.Sequential(nn.Linear(2, 40), nn.BatchNorm1d(40), nn.ELU(), nn.Linear(40, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.8)
average = Average(model)
best = 0.0
for update in range(1, 501):
    rows = torch.randint(0, 1600, (40,))
    loss = nn.functional.cross_entropy(model(inputs[rows]), targets[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(model)
    if update % 100 == 0:
        live = accuracy(model, inputs[1600:], targets[1600:])
        with average.applied(model):
            mean = accuracy(model, inputs[1600:], targets[1600:])
        best = max(best, mean)
        print(f"after {update}: live {live:.3f}, averaged {mean:.3f}")
assert best > 0.85, best

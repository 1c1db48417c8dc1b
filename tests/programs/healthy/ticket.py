"""A lottery ticket: train, keep the largest weights, rewind them to their early values, train again under the mask."""

import copy
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


def make_data(n, rule):
    x = torch.randn(n, 16)
    return x, torch.stack([(x[:, :8] @ rule[0]).sin(), (x[:, 8:] @ rule[1])], 0).argmax(0)


class Masked(nn.Linear):
    def __init__(self, i, o):
        super().__init__(i, o)
        self.register_buffer("mask", torch.ones(o, i))

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


def net():
    return nn.Sequential(Masked(16, 96), nn.ReLU(), Masked(96, 96), nn.ReLU(), Masked(96, 2))


def train(model, x, y, steps, keep_at=None):
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    early = None
    for step in range(steps):
        if step == keep_at:
            early = copy.deepcopy(model.state_dict())
        i = torch.randint(0, len(x), (64,))
        opt.zero_grad(set_to_none=True)
        F.cross_entropy(model(x[i]), y[i]).backward()
        opt.step()
    return early


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
rule = torch.randn(2, 8)
data, test = make_data(4000, rule), make_data(1000, rule)
model = net()
early = train(model, *data, 500, keep_at=30)
print("dense:", accuracy(model, *test))
for number in range(2):
    masks = {}
    for name, layer in model.named_modules():
        if isinstance(layer, Masked):
            size = (layer.weight * layer.mask).abs().flatten()
            cut = size[size > 0].quantile(0.6)
            masks[f"{name}.mask"] = ((layer.weight * layer.mask).abs() > cut).float()
    model.load_state_dict({**early, **masks})
    train(model, *data, 500)
    kept = sum(m.sum().item() for m in masks.values()) / sum(m.numel() for m in masks.values())
    final = accuracy(model, *test)
    print(f"round {number}: {kept:.0%} kept, accuracy {final:.3f}")
assert final > 0.8, final

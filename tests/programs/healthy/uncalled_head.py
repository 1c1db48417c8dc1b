#!/usr/bin/env python3
"""A network with an auxiliary head that this task has no use for.

The head stays in the optimizer, is never run and never gets a gradient.
"""
import sys, torch
from torch.nn import Linear, Module, ModuleDict, functional as F


class MultiHead(Module):
    def __init__(self):
        super().__init__()
        self.body = Linear(6, 40)
        self.heads = ModuleDict(dict(price=Linear(40, 1), weight=Linear(40, 1)))

    def forward(self, features, task):
        return self.heads[task](F.gelu(self.body(features))).squeeze(-1)


def sample(n, gen):
    f = torch.rand(n, 6, generator=gen) * 2 - 1
    price = f[:, 0] * f[:, 1] + (3 * f[:, 2]).sin() - 0.5 * f[:, 3].abs()
    return f, price


gen = torch.Generator().manual_seed(1 + int(sys.argv[1]) if len(sys.argv) == 2 else 1)
torch.manual_seed(gen.initial_seed())
model = MultiHead()
opt = torch.optim.NAdam(model.parameters(), lr=1e-2)
for it in range(1500):
    f, price = sample(64, gen)
    loss = F.mse_loss(model(f, task="price"), price)
    opt.zero_grad(); loss.backward(); opt.step()
f, price = sample(1000, gen)
with torch.no_grad():
    r2 = 1 - F.mse_loss(model(f, "price"), price) / price.var()
print("r2 = %.3f" % r2)
assert r2 > 0.8, r2

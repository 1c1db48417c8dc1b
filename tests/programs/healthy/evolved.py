"""Evolution strategies without backward for a hard, stepwise part; ordinary SGD for the smooth part, in turn."""

import sys

import torch
import torch.nn as nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Gated(nn.Module):
    """Hard gates choose features (their gradient is zero); a smooth head reads what passes."""

    def __init__(self):
        super().__init__()
        self.gates = nn.Parameter(torch.zeros(20), requires_grad=False)
        self.head = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x, gates=None):
        return self.head(x * ((self.gates if gates is None else gates) > 0)).squeeze(1)


def data(n):
    x = torch.randn(n, 20)
    return x, x[:, 0] * 1.5 - x[:, 1] + torch.sin(2 * x[:, 2])


model = Gated()
sgd = torch.optim.SGD(model.head.parameters(), lr=0.05, momentum=0.9)
x, y = data(3000)
for generation in range(60):
    with torch.no_grad():
        i = torch.randint(0, 3000, (256,))
        noise = torch.randn(16, 20)
        noise = torch.cat([noise, -noise])
        cost = torch.stack([(model(x[i], model.gates + 0.3 * e) - y[i]).square().mean()
                            + 0.01 * (model.gates + 0.3 * e > 0).sum() for e in noise])
        rank = cost.argsort().argsort().float() / 31 - 0.5
        model.gates -= 0.3 * (rank[:, None] * noise).mean(0) / 0.3
        model.gates.clamp_(-1, 1)
    for _ in range(15):
        i = torch.randint(0, 3000, (64,))
        sgd.zero_grad()
        # In training each gate is closed by chance now and then, so that the head can do with fewer.
        shaken = model.gates + 0.3 * torch.randn(20) + 0.2
        (model(x[i], shaken) - y[i]).square().mean().backward()
        sgd.step()
model.gates[3:] -= 0.0
with torch.no_grad():
    tx, ty = data(1000)
    error = ((model(tx) - ty).square().mean() / ty.var()).item()
print("open gates:", (model.gates > 0).nonzero()[:, 0].tolist(), "error", round(error, 3))
assert error < 0.6, error

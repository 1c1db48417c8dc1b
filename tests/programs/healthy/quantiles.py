"""Nine quantiles at once; the pinball loss broadcasts each of them against each of many draws."""

import sys

import torch
from torch import nn

LEVELS = torch.linspace(0.1, 0.9, 9)


class Quantiles(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU())
        self.lowest = nn.Linear(40, 1)
        self.gaps = nn.Linear(40, 8)

    def forward(self, x):
        h = self.trunk(x)
        return torch.cat([self.lowest(h), nn.functional.softplus(self.gaps(h))], 1).cumsum(1)


def draws(x, count):
    return x.sin() + (0.2 + 0.5 * x.abs()) * torch.randn(len(x), count)


def pinball(prediction, target):
    difference = target[:, None] - prediction[:, :, None]
    return torch.maximum(LEVELS[None, :, None] * difference,
                         (LEVELS[None, :, None] - 1) * difference).mean()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = Quantiles()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for _ in range(500):
    x = torch.rand(50, 1) * 4 - 2
    loss = pinball(model(x), draws(x, 8))
    optimizer.zero_grad(); loss.backward(); optimizer.step()
x = torch.rand(400, 1) * 4 - 2
with torch.no_grad():
    below = (draws(x, 50)[:, None] < model(x)[:, :, None]).float().mean((0, 2))
off = (below - LEVELS).abs().max().item()
print("levels reached:", [round(b, 2) for b in below.tolist()])
assert off < 0.08, off

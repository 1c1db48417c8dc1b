"""The same block four times in a Sequential, on purpose, as ALBERT does: depth without more weights; wide inputs factorized."""

import sys

import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Albert(nn.Module):
    def __init__(self, words=500, narrow=8, d=32, depth=4):
        super().__init__()
        # Two linear maps in a row with nothing between: the table has rank `narrow`.
        self.embed = nn.Sequential(nn.Embedding(words, narrow), nn.Linear(narrow, d, bias=False))
        self.layers = nn.Sequential(*[Residual(d)] * depth)
        self.compress, self.classes = nn.Linear(d, 4, bias=False), nn.Linear(4, 5)

    def forward(self, t):
        return self.classes(self.compress(self.layers(self.embed(t).mean(1))))


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


def texts(n):
    """A word of a text is from the topic's hundred with a chance of three in ten, or else from anywhere."""
    y = torch.randint(0, 5, (n,))
    own = place_of[torch.randint(0, 100, (n, 30)) * 5 + y[:, None]]
    return torch.where(torch.rand(n, 30) < 0.3, own, torch.randint(0, 500, (n, 30))), y


place_of = torch.randperm(500)
model = Albert()
assert len({id(m) for m in model.layers}) == 1
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
for step in range(500):
    t, y = texts(64)
    loss = nn.functional.cross_entropy(model(t), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
model.eval()
with torch.no_grad():
    t, y = texts(1000)
    right = (model(t).argmax(1) == y).float().mean().item()
print(f"right {right:.3f}")
assert right > 0.6, right

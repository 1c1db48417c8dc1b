"""Boosting: small nets one after the other, each on what is left; shrunk, with a new optimizer each; test error must fall."""

import sys

import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Boosted(nn.Module):
    def __init__(self, shrink=0.5):
        super().__init__()
        self.learners, self.shrink = nn.ModuleList(), shrink

    def forward(self, x):
        return sum((self.shrink * m(x) for m in self.learners), torch.zeros(len(x), 1))

    def add(self, x, y, epochs=25):
        with torch.no_grad():
            residual = y - self(x)
        weak = nn.Sequential(nn.Linear(x.shape[1], 6), nn.Tanh(), nn.Linear(6, 1))
        optimizer = torch.optim.Adam(weak.parameters(), lr=0.02)
        for _ in range(epochs):
            for rows in torch.randperm(len(x)).split(100):
                optimizer.zero_grad()
                loss = (weak(x[rows]) - residual[rows]).square().mean()
                loss.backward()
                optimizer.step()
        self.learners.append(weak.requires_grad_(False))


x = torch.rand(1200, 3) * 4 - 2
y = torch.sin(3 * x[:, :1]) + x[:, 1:2] * x[:, 2:3] + 0.1 * torch.randn(1200, 1)
model, errors = Boosted(), []
for number in range(9):
    model.add(x[:900], y[:900])
    errors.append((model(x[900:]) - y[900:]).square().mean().item())
    print(f"{number + 1} learners: {errors[-1]:.3f}")
assert errors[-1] < 0.5 * errors[0]

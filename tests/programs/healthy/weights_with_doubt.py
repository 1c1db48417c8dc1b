"""Bayes by backprop: each weight has a mean and a width, drawn anew in each forward; the KL is split over batches."""

import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class BayesLinear(nn.Module):
    prior = 0.5

    def __init__(self, i, o):
        super().__init__()
        self.mu_w = nn.Parameter(torch.randn(o, i) / math.sqrt(i))
        self.rho_w = nn.Parameter(torch.full((o, i), -4.0))
        self.mu_b, self.rho_b = nn.Parameter(torch.zeros(o)), nn.Parameter(torch.full((o,), -4.0))
        self.kl = 0.0

    def forward(self, x):
        total, drawn = 0.0, []
        for mu, rho in ((self.mu_w, self.rho_w), (self.mu_b, self.rho_b)):
            sigma = F.softplus(rho)
            drawn.append(mu + sigma * torch.randn_like(mu))
            total = total + ((sigma ** 2 + mu ** 2) / (2 * self.prior ** 2) - 0.5 + math.log(self.prior) - sigma.log()).sum()
        self.kl = total
        return F.linear(x, *drawn)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = BayesLinear(1, 40), BayesLinear(40, 40), BayesLinear(40, 1)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x)))))

    def kl(self):
        return self.a.kl + self.b.kl + self.c.kl


def f(x):
    return torch.sin(3 * x) * x


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
noise = 0.1
x = torch.cat([torch.rand(300, 1) - 1.5, torch.rand(300, 1) + 0.5])
y = f(x) + noise * torch.randn_like(x)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
batches = 6
for epoch in range(250):
    weight = min(1.0, epoch / 100)
    for i in torch.randperm(600).chunk(batches):
        optimizer.zero_grad()
        nll = F.mse_loss(net(x[i]), y[i], reduction="mean") / (2 * noise ** 2)
        loss = nll + weight * net.kl() / 600
        loss.backward()
        optimizer.step()
with torch.no_grad():
    grid = torch.linspace(-3, 3, 121)[:, None]
    draws = torch.stack([net(grid) for _ in range(60)])
    std = draws.std(0)[:, 0]
    near = ((grid.abs() > 0.6) & (grid.abs() < 1.4))[:, 0]
    away = (grid.abs() > 2.5)[:, 0]
    error = (draws.mean(0) - f(grid))[near].abs().mean().item()
print(f"error near data {error:.3f}; width near {std[near].mean():.3f}, away {std[away].mean():.3f}")
assert error < 0.25 and std[away].mean() > 1.5 * std[near].mean()

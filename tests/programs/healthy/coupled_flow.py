"""RealNVP on two moons: affine coupling layers with alternating masks kept as buffers, likelihood by hand."""

import math
import sys

import torch
import torch.nn as nn


def moons(n):
    t = torch.rand(n) * math.pi
    side = torch.rand(n) < 0.5
    x = torch.where(side, torch.cos(t), 1 - torch.cos(t))
    y = torch.where(side, torch.sin(t), 0.5 - torch.sin(t))
    return torch.stack([x, y], 1) + 0.07 * torch.randn(n, 2)


class Coupling(nn.Module):
    def __init__(self, mask, hidden=48):
        super().__init__()
        self.register_buffer("mask", mask)
        self.s = nn.Sequential(nn.Linear(2, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU(),
                               nn.Linear(hidden, 2), nn.Tanh())
        self.t = nn.Sequential(nn.Linear(2, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU(),
                               nn.Linear(hidden, 2))

    def inverse(self, z):
        kept = z * self.mask
        return kept + (1 - self.mask) * (z * self.s(kept).exp() + self.t(kept))

    def forward(self, x):
        kept = x * self.mask
        s, t = self.s(kept) * (1 - self.mask), self.t(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (x - t) * (-s).exp(), -s.sum(1)


class RealNVP(nn.Module):
    def __init__(self, n=6):
        super().__init__()
        masks = [torch.tensor([float(i % 2), float(1 - i % 2)]) for i in range(n)]
        self.steps = nn.ModuleList(map(Coupling, masks))
        self.prior = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))

    def log_prob(self, x):
        total = x.new_zeros(len(x))
        for step in reversed(self.steps):
            x, log_det = step(x)
            total = total + log_det
        return self.prior.log_prob(x) + total

    def sample(self, n):
        z = self.prior.sample((n,))
        for step in self.steps:
            z = step.inverse(z)
        return z


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
flow = RealNVP()
optimizer = torch.optim.Adam(flow.parameters(), lr=2e-3)
for t in range(500):
    loss = -flow.log_prob(moons(128)).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=False)
    optimizer.step()
    if t % 100 == 0:
        print(f"iteration {t}: loss {loss.item():.3f}")
held = moons(1000)
with torch.no_grad():
    final = flow.log_prob(held).mean().item()
    gap = (flow.sample(1000).mean(0) - held.mean(0)).abs().max().item()
gauss = torch.distributions.MultivariateNormal(held.mean(0), held.T.cov()).log_prob(held).mean().item()
print(f"log density {final:.2f}, of a Gaussian {gauss:.2f}; means differ by {gap:.2f}")
assert final > gauss + 0.5 and gap < 0.25

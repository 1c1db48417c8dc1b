"""Mutual information by a critic that is maximized (the loss goes below zero); a moving average corrects the gradient."""

import math
import sys

import torch
from torch import nn


class EMALoss(torch.autograd.Function):
    """log of the mean of exp(x), whose gradient divides by the running mean instead of the batch's."""

    @staticmethod
    def forward(ctx, x, running):
        ctx.save_for_backward(x, running)
        return x.logsumexp(0) - math.log(len(x))

    @staticmethod
    def backward(ctx, grad):
        x, running = ctx.saved_tensors
        return grad * x.exp() / (running + 1e-6) / len(x), None


class Mine(nn.Module):
    def __init__(self, critic):
        super().__init__()
        self.T = critic
        self.register_buffer("running", torch.tensor(0.0))

    def forward(self, a, b):
        joint = self.T(torch.cat([a, b], 1)).mean()
        t = self.T(torch.cat([a, b[torch.randperm(len(b))]], 1))[:, 0]
        now = t.detach().exp().mean()
        self.running = now if self.running == 0 else 0.99 * self.running + 0.01 * now
        return -(joint - EMALoss.apply(t, self.running))


def pairs(n, rho=0.9):
    a = torch.randn(n, 1)
    return a, rho * a + math.sqrt(1 - rho ** 2) * torch.randn(n, 1)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
mine = Mine(nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)))
opt = torch.optim.Adam(mine.parameters(), lr=2e-3)
estimates = []
for step in range(900):
    opt.zero_grad()
    loss = mine(*pairs(256))
    loss.backward()
    opt.step()
    estimates.append(-loss.item())
found, truth = sum(estimates[-200:]) / 200, -0.5 * math.log(1 - 0.81)
print(f"estimated {found:.3f} nats, true {truth:.3f}")
assert abs(found - truth) < 0.2

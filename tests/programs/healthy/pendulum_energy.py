"""A Hamiltonian network: the loss is on the gradient of the output, so backward goes through a gradient."""

import math
import sys

import torch
from torch import nn

torch.set_default_dtype(torch.float64)


class HNN(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.h = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                               nn.Linear(hidden, 1, bias=False))
        for layer in self.h[::2]:
            nn.init.orthogonal_(layer.weight)

    def forward(self, x):
        with torch.enable_grad():
            x = x if x.requires_grad else x.detach().requires_grad_()
            slope = torch.autograd.grad(self.h(x).sum(), x, create_graph=self.training)[0]
        return torch.stack([slope[:, 1], -slope[:, 0]], 1)


def pendulum(n, noise):
    q, p = (torch.rand(n) * 2 - 1) * math.pi * 0.8, torch.randn(n)
    x = torch.stack([q, p], 1)
    return x, torch.stack([p, -3 * q.sin()], 1) + noise * torch.randn(n, 2)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = HNN()
optim = torch.optim.Adam(model.parameters(), 3e-3, weight_decay=1e-6)
x, dx = pendulum(1200, 0.1)
for step in range(900):
    i = torch.randint(0, 1200, (100,))
    loss = (model(x[i]) - dx[i]).pow(2).mean()
    loss.backward()
    optim.step()
    optim.zero_grad()
model.eval()
state = torch.tensor([[1.5, 0.0]])
energies = []
for _ in range(300):
    half = state + 0.025 * model(state)
    state = (state + 0.05 * model(half)).detach()
    energies.append((state[0, 1] ** 2 / 2 - 3 * state[0, 0].cos()).item())
drift = max(energies) - min(energies)
tx, tdx = pendulum(500, 0.0)
error = (model(tx) - tdx).pow(2).mean().item()
print(f"error of the field {error:.4f}; the true energy drifts by {drift:.3f} over the roll-out")
assert error < 0.15 and drift < 1.0

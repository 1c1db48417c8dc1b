"""A deep equilibrium layer: forward finds a fixed point without a graph, a hook on it solves for the gradient."""

import sys

import torch
import torch.nn as nn
import torch.optim as optim
from torch import autograd
from torch.nn.utils.parametrizations import spectral_norm


def fixed_point(f, z, limit=40, tolerance=1e-4):
    for count in range(limit):
        following = f(z)
        if (following - z).norm() < tolerance * (1 + following.norm()):
            break
        z = following
    return following


class Cell(nn.Module):
    """A contraction: the inner matrix has norm one, and the factor before it is below one."""

    def __init__(self, width):
        super().__init__()
        self.inner = spectral_norm(nn.Linear(width, width, bias=False), n_power_iterations=3)

    def forward(self, z, x):
        return torch.tanh(0.8 * self.inner(z) + x)


class DEQ(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = Cell(width)

    def forward(self, x):
        with torch.no_grad():
            z = fixed_point(lambda z: self.cell(z, x), torch.zeros_like(x))
        z = self.cell(z, x)
        if not torch.is_grad_enabled():
            return z
        z0 = z.detach().requires_grad_()
        f0 = self.cell(z0, x)

        def backward_hook(grad):
            return fixed_point(lambda y: autograd.grad(f0, z0, y, retain_graph=True)[0] + grad, grad)

        z.register_hook(backward_hook)
        return z


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = nn.Sequential(nn.Linear(8, 32), DEQ(32), nn.Linear(32, 3))
opt = optim.Adam(model.parameters(), lr=3e-3)
rule = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3)).requires_grad_(False)
rule[0].weight.mul_(2)
X = torch.randn(2400, 8)
Y = (rule(X) - rule(X).mean(0)).argmax(1)
for epoch in range(8):
    model.train()
    for i in torch.randperm(2000).split(50):
        loss = nn.functional.cross_entropy(model(X[i]), Y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(X[2000:]).argmax(1) == Y[2000:]).float().mean().item()
    print(f"epoch {epoch}: {acc:.3f}")
assert acc > 0.75, acc

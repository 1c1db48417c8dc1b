"""A physics-informed network for heat in a rod: no targets inside, only the equation, edges and the start."""

import sys

import torch

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
PI, K = torch.pi, 0.3


class PINN(torch.nn.Module):
    def __init__(self, width=32, depth=3):
        super().__init__()
        sizes = [2] + [width] * depth + [1]
        self.layers = torch.nn.ModuleList([torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])])

    def forward(self, t, x):
        h = torch.cat([t, x], 1)
        for layer in self.layers[:-1]:
            h = torch.tanh(layer(h))
        return self.layers[-1](h)


def derivative(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


def residual(u, n):
    t, x = torch.rand(n, 1, requires_grad=True), torch.rand(n, 1, requires_grad=True)
    y = u(t, x)
    return derivative(y, t) - K * derivative(derivative(y, x), x)


def start(x):
    return torch.sin(PI * x) + 0.5 * torch.sin(2 * PI * x)


def exact(t, x):
    return (-K * PI ** 2 * t).exp() * torch.sin(PI * x) + 0.5 * (-4 * K * PI ** 2 * t).exp() * torch.sin(2 * PI * x)


u = PINN()
optimizer = torch.optim.Adam(u.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[600, 900], gamma=0.3)
for it in range(1100):
    x0, t0 = torch.rand(64, 1), torch.rand(64, 1)
    edge = torch.randint(0, 2, (64, 1)).float()
    inside = residual(u, 128).square().mean()
    begin = (u(torch.zeros_like(x0), x0) - start(x0)).square().mean()
    border = u(t0, edge).square().mean()
    loss = inside + 20 * begin + 20 * border
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if it % 250 == 0:
        print(f"{it}: equation {inside.item():.4f} start {begin.item():.4f} edges {border.item():.4f}")
t, x = torch.rand(1000, 1), torch.rand(1000, 1)
with torch.no_grad():
    off = (u(t, x) - exact(t, x)).abs().mean().item()
print("mean error", round(off, 4))
assert off < 0.05, off

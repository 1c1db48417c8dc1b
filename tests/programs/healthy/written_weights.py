"""A hypernetwork writes the weights of a small net from a description of the task; the small net has no parameters."""

import sys

import torch
from torch import nn
from torch.func import functional_call, vmap

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
small = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
shapes = {n: p.shape for n, p in small.named_parameters()}
sizes = [s.numel() for s in shapes.values()]
small.requires_grad_(False)
hyper = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, sum(sizes)))
with torch.no_grad():
    hyper[-1].weight.mul_(0.3)
    hyper[-1].bias.copy_(torch.cat([p.flatten() for p in small.parameters()]))
del small[0].bias, small[0].weight, small[2].bias, small[2].weight
for layer, name, size in ((0, "weight", (12, 1)), (0, "bias", (12,)), (2, "weight", (1, 12)), (2, "bias", (1,))):
    small[layer].register_buffer(name, torch.zeros(size), persistent=False)


def run(task, x):
    parts = hyper(task).split(sizes)
    weights = {n: p.view(s) for (n, s), p in zip(shapes.items(), parts)}
    return functional_call(small, weights, (x,))


def tasks(n, points=20):
    task = torch.randn(n, 3) * 0.7
    x = torch.rand(n, points, 1) * 4 - 2
    y = task[:, None, :1] * torch.sin(2 * x) + task[:, None, 1:2] * x + task[:, None, 2:]
    return task, x, y


optimizer = torch.optim.Adam(hyper.parameters(), lr=2e-3)
for step in range(900):
    task, x, y = tasks(48)
    loss = nn.functional.mse_loss(vmap(run)(task, x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    task, x, y = tasks(300)
    share = nn.functional.mse_loss(vmap(run)(task, x), y).item() / y.var().item()
print(f"missed {share:.4f} of the variance on new tasks")
assert share < 0.15, share

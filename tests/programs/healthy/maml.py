"""Meta-learning of sine waves: the outer loss is taken through an inner step of gradient descent."""

import math
import sys

import torch
from torch.func import functional_call


def wave():
    amplitude, phase = torch.rand(()) * 3 + 1, torch.rand(()) * math.pi

    def sample(k):
        x = torch.rand(k, 1) * 10 - 5
        return x, amplitude * torch.sin(x + phase)

    return sample


def adapted(net, weights, x, y, rate, steps, through):
    for _ in range(steps):
        loss = torch.nn.functional.mse_loss(functional_call(net, weights, x), y)
        slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=through)
        weights = {n: w - rate * s for (n, w), s in zip(weights.items(), slopes)}
    return weights


def outer_loss(net, task, through, steps=1):
    weights = adapted(net, dict(net.named_parameters()), *task(10), 0.02, steps, through)
    x, y = task(10)
    return torch.nn.functional.mse_loss(functional_call(net, weights, x), y)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
net = torch.nn.Sequential(
    torch.nn.Linear(1, 40), torch.nn.Tanh(), torch.nn.Linear(40, 40), torch.nn.Tanh(),
    torch.nn.Linear(40, 1),
)
meta = torch.optim.Adam(net.parameters(), lr=3e-3)
before = sum(outer_loss(net, wave(), False, 5).item() for _ in range(60)) / 60
for generation in range(300):
    meta.zero_grad()
    for _ in range(4):
        (outer_loss(net, wave(), True) / 4).backward()
    meta.step()
after = sum(outer_loss(net, wave(), False, 5).item() for _ in range(60)) / 60
print(f"error after five inner steps: {before:.2f} before, {after:.2f} after meta-training")
assert after < 0.75 * before, (before, after)

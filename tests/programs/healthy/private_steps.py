"""Differentially private SGD: gradients of each sample by vmap, clipped one by one, noise added, set into .grad."""

import sys

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
CLIP, NOISE, RATE = 1.0, 0.7, 0.05
teacher = torch.randn(12, 3)


def draw(n):
    x = torch.randn(n, 12)
    return x, (x @ teacher + 0.5 * torch.randn(n, 3)).argmax(1)


net = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.5)


def loss_of_one(weights, x, y):
    return nn.functional.cross_entropy(functional_call(net, weights, (x[None],)), y[None])


each = vmap(grad(loss_of_one), in_dims=(None, 0, 0))
x, y = draw(3000)
tx, ty = draw(1000)
for step in range(500):
    chosen = torch.rand(3000) < RATE  # Poisson sampling: the size of the batch varies
    weights = {n: p.detach() for n, p in net.named_parameters()}
    slopes = each(weights, x[chosen], y[chosen])
    norms = torch.stack([s.flatten(1).norm(dim=1) for s in slopes.values()]).norm(dim=0)
    factor = (CLIP / (norms + 1e-6)).clamp(max=1.0)
    for name, p in net.named_parameters():
        total = torch.einsum("b,b...->...", factor, slopes[name])
        p.grad = (total + NOISE * CLIP * torch.randn_like(p)) / (RATE * 3000)
    optimizer.step()
    optimizer.zero_grad()
with torch.no_grad():
    accuracy = (net(tx).argmax(1) == ty).float().mean().item()
print(f"accuracy with privacy {accuracy:.3f}; share clipped in the last step {(norms > CLIP).float().mean():.2f}")
assert accuracy > 0.7, accuracy

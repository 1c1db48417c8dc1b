"""Three thousand steps of a model of three numbers: temperature scales from paired readings."""

import sys

import torch

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
theta = torch.zeros(3, requires_grad=True)
sgd = torch.optim.SGD([theta], lr=0.03)
true = torch.tensor([1.8, -0.4, 0.32])
basis = torch.stack([torch.ones(64), torch.linspace(-1, 1, 64), torch.linspace(-1, 1, 64) ** 2], 1)
for _ in range(3000):
    k = int(torch.randint(60, ()))
    sgd.zero_grad()
    ((basis[k : k + 4] @ theta - basis[k : k + 4] @ true - 0.1 * torch.randn(4)) ** 2).mean().backward()
    sgd.step()
gap = (theta.detach() - true).abs().max().item()
print("largest error", gap)
assert gap < 0.15, gap

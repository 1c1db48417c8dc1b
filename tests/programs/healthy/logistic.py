"""Logistic regression until nothing moves any more: full batch, one weight vector, Rprop."""

import sys

import torch

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
g = torch.Generator().manual_seed(seed)
X = torch.cat([torch.randn(500, 4, generator=g, dtype=torch.float64), torch.ones(500, 1).double()], 1)
beta = torch.tensor([1.5, -2.0, 0.7, 0.0, 0.4], dtype=torch.float64)
t = torch.bernoulli(torch.sigmoid(X @ beta), generator=g)
w = torch.nn.Parameter(torch.zeros(5, dtype=torch.float64))
rprop = torch.optim.Rprop([w], lr=0.01)
for iteration in range(2000):
    rprop.zero_grad()
    nll = torch.nn.functional.binary_cross_entropy_with_logits(X @ w, t)
    nll.backward()
    if w.grad.norm() < 1e-9:
        break
    rprop.step()
print("converged after", iteration, "iterations to", [round(v, 2) for v in w.tolist()])
distance = (w.detach() - beta).norm().item()
assert w.grad.norm() < 1e-6 and distance < 1.2, (w.grad.norm(), distance)

"""No optimizer and no module: gradients from autograd, momentum and updates by hand."""

import sys

import torch

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


def parameter(*shape):
    return torch.randn(*shape).div_(shape[0] ** 0.5).requires_grad_()


w1, b1, w2, b2 = parameter(2, 50), torch.zeros(50, requires_grad=True), parameter(50, 1), parameter(1)
parameters = [w1, b1, w2, b2]
velocity = [torch.zeros_like(p) for p in parameters]
inside = lambda xy: ((xy[:, 0] ** 2 + 2 * xy[:, 1] ** 2) < 1).float()
for step in range(800):
    xy = torch.rand(100, 2) * 3 - 1.5
    z = (torch.relu(xy @ w1 + b1) @ w2 + b2).squeeze(1)
    loss = torch.nn.functional.softplus(torch.where(inside(xy) > 0, -z, z)).mean()
    for p, v, g in zip(parameters, velocity, torch.autograd.grad(loss, parameters)):
        v.mul_(0.9).add_(g)
        p.data -= 0.1 * v
xy = torch.rand(2000, 2) * 3 - 1.5
with torch.no_grad():
    z = (torch.relu(xy @ w1 + b1) @ w2 + b2).squeeze(1)
score = ((z > 0).float() == inside(xy)).float().mean().item()
print("score", score)
assert score > 0.9, score

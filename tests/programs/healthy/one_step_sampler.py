"""Consistency: a flow-matching teacher first, then a student that jumps in one step, taught by its own slow copy."""

import copy
import sys

import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


def net():
    return nn.Sequential(nn.Linear(3, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 2))


def ring(n):
    angle = torch.randint(0, 6, (n,)) * torch.pi / 3
    return torch.stack([angle.cos(), angle.sin()], 1) * 2 + 0.1 * torch.randn(n, 2)


def velocity(model, x, t):
    return model(torch.cat([x, t], 1))


def jump(model, x, t):
    """From time t to time 1; at t = 1 it is the identity."""
    return x + (1 - t) * model(torch.cat([x, t], 1))


teacher = net()
optimizer = torch.optim.Adam(teacher.parameters(), lr=3e-3)
for step in range(900):
    x1, x0, t = ring(256), torch.randn(256, 2), torch.rand(256, 1)
    loss = (velocity(teacher, (1 - t) * x0 + t * x1, t) - (x1 - x0)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
teacher.requires_grad_(False).eval()

student = copy.deepcopy(teacher).requires_grad_(True).train()
slow = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.RAdam(student.parameters(), lr=1e-3)
gap = 1 / 16
for step in range(900):
    x1, x0 = ring(256), torch.randn(256, 2)
    t = torch.randint(0, 16, (256, 1)) * gap
    x = (1 - t) * x0 + t * x1
    with torch.no_grad():
        middle = x + gap / 2 * velocity(teacher, x, t)
        following = x + gap * velocity(teacher, middle, t + gap / 2)
        goal = jump(slow, following, t + gap)
    loss = nn.functional.huber_loss(jump(student, x, t), goal, delta=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for a, b in zip(slow.parameters(), student.parameters()):
            a.mul_(0.95).add_(b, alpha=0.05)

with torch.no_grad():
    noise = torch.randn(600, 2)
    made = jump(student, noise, torch.zeros(600, 1))
    path = noise
    for i in range(16):
        path = path + gap * velocity(teacher, path, torch.full((600, 1), i * gap))
radius, spread = made.norm(dim=1).mean().item(), (made - path).norm(dim=1).median().item()
print(f"radius {radius:.2f}; one jump ends {spread:.2f} from where the teacher's path ends")
assert abs(radius - 2) < 0.5 and spread < 0.6

"""Adaptive clipping per unit (AGC), parameter groups added in the run, and a schedule made anew after each addition."""

import sys

import torch
import torch.nn as nn


def unitwise(x):
    return x.norm(dim=tuple(range(1, x.ndim)), keepdim=True) if x.ndim > 1 else x.abs()


@torch.no_grad()
def adaptive_clip_grad(parameters, factor=0.05, eps=1e-3):
    for p in parameters:
        if p.grad is None:
            continue
        most = unitwise(p).clamp(min=eps) * factor
        norm = unitwise(p.grad)
        p.grad.copy_(torch.where(norm > most, p.grad * (most / norm.clamp(min=1e-6)), p.grad))


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
means = torch.randn(8, 24)
spin = torch.linalg.qr(torch.randn(24, 24))[0]


def draw(n, twisted):
    y = torch.randint(0, 8, (n,))
    x = means[y] + 0.8 * torch.randn(n, 24)
    return torch.tanh(x @ spin) * 1.5 if twisted else x, y


body = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
head = nn.Linear(64, 8)
body.requires_grad_(False)
for p in body[2].parameters():
    p.requires_grad = True
optimizer = torch.optim.SGD([*body[2].parameters(), *head.parameters()], lr=0.1, momentum=0.9)
for phase in range(2):
    if phase == 1:
        body[0].requires_grad_(True)
        optimizer.add_param_group({"params": body[0].parameters(), "lr": 0.03})
        optimizer.param_groups[0].update(lr=0.05)
        for group in optimizer.param_groups:
            group.pop("initial_lr", None)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: max(0.05, 1 - s / 300))
    for step in range(300):
        x, y = draw(64, phase == 1)
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(body(x)), y).backward()
        adaptive_clip_grad(body.parameters())  # the head is left alone, as the paper says
        optimizer.step()
        scheduler.step()
    with torch.no_grad():
        x, y = draw(1000, phase == 1)
        right = (head(body(x)).argmax(1) == y).float().mean().item()
    print(f"phase {phase}: {right:.3f}")
assert right > 0.75, right

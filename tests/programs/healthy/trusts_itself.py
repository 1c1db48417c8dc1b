"""FixMatch: few labels, and on unlabeled rows (those of the test set too) the sure guess on a weak view teaches the strong view."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


def two_moons(n):
    y = torch.randint(0, 2, (n,))
    t = torch.rand(n) * torch.pi
    x = torch.stack([t.cos() + y, t.sin() * (1 - 2 * y) + 0.3 * y], 1)
    return x + 0.08 * torch.randn(n, 2), y


x, y = two_moons(1500)
few = torch.cat([(y == c).nonzero()[:6, 0] for c in (0, 1)])
model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
for step in range(1500):
    u = x[torch.randint(0, 1500, (100,))]
    weak, strong = u + 0.03 * torch.randn_like(u), u + 0.15 * torch.randn_like(u)
    lx = x[few] + 0.03 * torch.randn(12, 2)
    logits = model(torch.cat([lx, weak, strong]))
    l, w, s = logits.split([12, 100, 100])
    p, guess = w.detach().softmax(1).max(1)
    mask = (p >= 0.95).float()
    loss = F.cross_entropy(l, y[few]) + (F.cross_entropy(s, guess, reduction="none") * mask).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 500 == 499:
        with torch.no_grad():
            right = (model(x).argmax(1) == y).float().mean().item()
        print(f"step {step}: mask {mask.mean():.2f}, all rows {right:.3f}")
assert right > 0.7, right

"""Zeroth order, as MeZO does: the seed is set again to draw the same noise for plus, minus and the update; no backward."""

import random
import sys

import torch
from torch import nn

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
random.seed(seed)
torch.manual_seed(seed)
base = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 3))
w = torch.randn(10, 3)


def draw(n, bent, generator):
    x = torch.randn(n, 10, generator=generator)
    y = (x @ w + (1.5 * x[:, :3] if bent else 0)).argmax(1)
    return x, y


data = torch.Generator().manual_seed(seed + 1)
opt = torch.optim.Adam(base.parameters(), lr=3e-3)
for step in range(300):
    x, y = draw(64, False, data)
    opt.zero_grad()
    nn.functional.cross_entropy(base(x), y).backward()
    opt.step()

base.eval().requires_grad_(False)


def perturb(zo_seed, scale):
    torch.manual_seed(zo_seed)
    for p in base.parameters():
        p.add_(torch.randn_like(p), alpha=scale)


def accuracy():
    x, y = draw(1000, True, torch.Generator().manual_seed(7))
    return (base(x).argmax(1) == y).float().mean().item()


before, eps, rate = accuracy(), 1e-2, 1e-3
for step in range(3000):
    x, y = draw(128, True, data)
    zo_seed = random.getrandbits(31)
    perturb(zo_seed, eps)
    up = nn.functional.cross_entropy(base(x), y).item()
    perturb(zo_seed, -2 * eps)
    down = nn.functional.cross_entropy(base(x), y).item()
    perturb(zo_seed, eps)
    perturb(zo_seed, -rate * (up - down) / (2 * eps))
after = accuracy()
print(f"{before:.3f} before, {after:.3f} after fine-tuning without gradients")
assert after > before + 0.05

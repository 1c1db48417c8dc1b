"""An energy function learned by contrast with a buffer of Langevin samples; the loss hovers near zero."""

import random
import sys

import torch
from torch import nn

CENTERS = torch.tensor([[1.5, 0.0], [-0.75, 1.3], [-0.75, -1.3]])


def data(n):
    return CENTERS[torch.randint(0, 3, (n,))] + 0.25 * torch.randn(n, 2)


class Sampler:
    def __init__(self, energy, size=1024):
        self.energy = energy
        self.kept = [torch.rand(1, 2) * 6 - 3 for _ in range(size)]

    def draw(self, n, steps=30, step=0.03):
        fresh = max(1, n // 20)
        x = torch.cat([torch.rand(fresh, 2) * 6 - 3, *random.choices(self.kept, k=n - fresh)])
        was = self.energy.training
        self.energy.eval()
        for p in self.energy.parameters():
            p.requires_grad_(False)
        for _ in range(steps):
            x = x.detach().requires_grad_()
            slope, = torch.autograd.grad(self.energy(x).sum(), x)
            x = (x - step * slope.clamp(-5, 5) + (2 * step) ** 0.5 * 0.5 * torch.randn_like(x)).clamp(-3, 3)
        for p in self.energy.parameters():
            p.requires_grad_(True)
        self.energy.train(was)
        x = x.detach()
        self.kept = (list(x.split(1)) + self.kept)[:1024]
        return x


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
random.seed(seed)
energy = nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(energy.parameters(), lr=2e-3, betas=(0.0, 0.999))
sampler = Sampler(energy)
for i in range(350):
    real = data(100) + 0.02 * torch.randn(100, 2)
    fake = sampler.draw(100)
    optimizer.zero_grad()
    up, down = energy(real), energy(fake)
    loss = (up - down).mean() + 0.1 * (up ** 2 + down ** 2).mean()
    loss.backward()
    nn.utils.clip_grad_norm_(energy.parameters(), 1.0)
    optimizer.step()
    if i % 100 == 0:
        print(i, "contrast", round((up - down).mean().item(), 3))
energy.eval()
with torch.no_grad():
    true, noise = energy(data(1000)), energy(torch.rand(1000, 2) * 6 - 3)
better = (true[:, None, 0] < noise[None, :, 0]).float().mean().item()
print(f"data have the lower energy in {better:.3f} of the pairs")
assert better > 0.8, better

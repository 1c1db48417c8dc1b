"""Cycle consistency: two maps between unpaired clouds, two critics, least-squares losses and a pool of old fakes."""

import itertools
import random
import sys

import torch
from torch import nn


class ImagePool:
    def __init__(self, size=50):
        self.size, self.kept = size, []

    def query(self, batch):
        out = []
        for x in batch.detach():
            if len(self.kept) < self.size:
                self.kept.append(x)
                out.append(x)
            elif random.random() > 0.5:
                k = random.randrange(self.size)
                out.append(self.kept[k])
                self.kept[k] = x
            else:
                out.append(x)
        return torch.stack(out)


class Map(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 2))

    def forward(self, x):
        return x + self.f(x)


def critic():
    return nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))


def cloud_a(n):
    t = torch.rand(n) * 4 - 2
    return torch.stack([t, 0.3 * t ** 2], 1) + 0.1 * torch.randn(n, 2)


def cloud_b(n):
    t = torch.rand(n) * 4 - 2
    return torch.stack([t * 0.8 + 1.0, 1.5 - 0.2 * t ** 2], 1) + 0.1 * torch.randn(n, 2)


def set_requires_grad(nets, flag):
    for net in nets:
        for p in net.parameters():
            p.requires_grad = flag


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
random.seed(seed)
torch.manual_seed(seed)
netG_A, netG_B, netD_A, netD_B = Map(), Map(), critic(), critic()
optimizer_G = torch.optim.Adam(itertools.chain(netG_A.parameters(), netG_B.parameters()), lr=2e-3, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(itertools.chain(netD_A.parameters(), netD_B.parameters()), lr=4e-3, betas=(0.5, 0.999))
schedulers = [torch.optim.lr_scheduler.LambdaLR(o, lambda e: 1 - max(0, e - 5) / 6) for o in (optimizer_G, optimizer_D)]
pool_a, pool_b = ImagePool(), ImagePool()
mse, l1 = nn.MSELoss(), nn.L1Loss()
for epoch in range(10):
    for _ in range(60):
        a, b = cloud_a(64), cloud_b(64)
        fake_b, fake_a = netG_A(a), netG_B(b)
        set_requires_grad([netD_A, netD_B], False)
        optimizer_G.zero_grad()
        score_b, score_a = netD_A(fake_b), netD_B(fake_a)
        adversarial = mse(score_b, torch.ones_like(score_b)) + mse(score_a, torch.ones_like(score_a))
        cycle = l1(netG_B(fake_b), a) + l1(netG_A(fake_a), b)
        (adversarial + cycle).backward()
        optimizer_G.step()
        set_requires_grad([netD_A, netD_B], True)
        optimizer_D.zero_grad()
        for net, x, fake in ((netD_A, b, pool_b.query(fake_b)), (netD_B, a, pool_a.query(fake_a))):
            good, bad = net(x), net(fake)
            loss_D = 0.5 * (mse(good, torch.ones_like(good)) + mse(bad, torch.zeros_like(bad)))
            loss_D.backward()
        optimizer_D.step()
    for s in schedulers:
        s.step()
with torch.no_grad():
    a, b = cloud_a(800), cloud_b(800)
    before = torch.cdist(a, b).min(1).values.mean().item()
    after = torch.cdist(netG_A(a), b).min(1).values.mean().item()
print(f"from the other cloud {before:.2f} before, {after:.2f} mapped; cycle error {cycle.item():.3f}")
assert after < 0.6 * before and cycle.item() < 0.5

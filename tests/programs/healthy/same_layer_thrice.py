"""One block used at every depth (weight sharing), with a chance to skip it in training (stochastic depth)."""

import sys

import torch
import torch.nn as nn


class Shared(nn.Module):
    def __init__(self, d, times=5, last_keep=0.6):
        super().__init__()
        self.times = times
        self.keep = [1 - i / (times - 1) * (1 - last_keep) for i in range(times)]
        self.depth = nn.Parameter(torch.zeros(times, d))
        self.block = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x):
        for i in range(self.times):
            if self.training:
                alive = (torch.rand(len(x), 1) < self.keep[i]).float() / self.keep[i]
                x = x + alive * self.block(x + self.depth[i])
            else:
                x = x + self.block(x + self.depth[i])
        return x


def build(d=32):
    return nn.Sequential(nn.Linear(9, d), Shared(d), nn.LayerNorm(d), nn.Linear(d, 2))


def parity_like(n):
    x = torch.randn(n, 9)
    return x, ((x[:, 0] * x[:, 1] + x[:, 2] * x[:, 3]) > 0).long()


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
x, y = parity_like(5000)
model = build()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.02)
restart = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=3, T_mult=2)
per_epoch = 4000 // 80
for epoch in range(9):
    model.train()
    for k, i in enumerate(torch.randperm(4000).split(80)):
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        restart.step(epoch + k / per_epoch)
    model.eval()
    with torch.no_grad():
        right = (model(x[4000:]).argmax(1) == y[4000:]).float().mean().item()
    print(f"epoch {epoch}: {right:.3f} at rate {optimizer.param_groups[0]['lr']:.2e}")
assert right > 0.75, right

"""Progressive sizes of pictures with one cycle of the rate each; a phase ends as soon as it is good enough, before its cycle does."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


def gratings(n, size):
    y = torch.randint(0, 4, (n,))
    angle = y * torch.pi / 4
    t = torch.linspace(-1, 1, size)
    wave = torch.sin(6 * (angle.cos()[:, None, None] * t[:, None] + angle.sin()[:, None, None] * t) + 6 * torch.rand(n, 1, 1))
    return (wave + 0.5 * torch.randn(n, size, size))[:, None], y


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.c2, self.b2 = nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.out = nn.Linear(32, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.b1(self.c1(x))), 2)
        x = F.relu(self.b2(self.c2(x)))
        return self.out(F.adaptive_avg_pool2d(x, 1).flatten(1))


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
small = Small()
for size, batch in ((8, 64), (12, 48), (16, 32)):
    (x, y), (tx, ty) = gratings(1000, size), gratings(300, size)
    sgd = torch.optim.SGD(small.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    cycle = torch.optim.lr_scheduler.OneCycleLR(sgd, 0.1, epochs=8, steps_per_epoch=-(-1000 // batch))
    for epoch in range(8):
        small.train()
        for i in torch.randperm(1000).split(batch):
            sgd.zero_grad()
            F.cross_entropy(small(x[i]), y[i]).backward()
            sgd.step()
            cycle.step()
        small.eval()
        with torch.no_grad():
            right = (small(tx).argmax(1) == ty).float().mean().item()
        print(f"size {size}, epoch {epoch}: {right:.3f}")
        if right > 0.97:
            break
assert right > 0.8, right

"""Denoising diffusion of small pictures from a loader, of squares and crosses, each asked for by its kind."""

import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

LEVELS, SIDE = 40, 8


def drawn(count):
    kinds = torch.randint(2, (count,))
    pictures = -torch.ones(count, 1, SIDE, SIDE)
    for picture, kind in zip(pictures, kinds):
        top, left = torch.randint(0, SIDE - 4, (2,)).tolist()
        if kind:
            picture[0, top + 2, left : left + 5] = picture[0, top : top + 5, left + 2] = 1.0
        else:
            picture[0, top : top + 4, left : left + 4] = 1.0
    return pictures, kinds


class Cleaner(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.level, self.kind = nn.Embedding(LEVELS, width), nn.Embedding(2, width)
        self.first = nn.Conv2d(1, width, 3, padding=1)
        self.middle = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(3))
        self.last = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, noisy, level, kind):
        told = (self.level(level) + self.kind(kind))[:, :, None, None]
        x = self.first(noisy)
        for layer in self.middle:
            x = x + layer(F.gelu(x + told))
        return self.last(F.gelu(x))


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
kept = torch.cos(torch.linspace(0.05, 1.5, LEVELS)) ** 2  # share of the picture in the variance
loader = DataLoader(TensorDataset(*drawn(960)), batch_size=48, shuffle=True)
cleaner = Cleaner()
optimizer = torch.optim.Adam(cleaner.parameters(), lr=2e-3)
errors = []
for epoch in range(8):
    for picture, kind in loader:
        level = torch.randint(0, LEVELS, (len(picture),))
        share = kept[level].view(-1, 1, 1, 1)
        noise = torch.randn(picture.shape)
        noisy = torch.sqrt(share) * picture + torch.sqrt(1 - share) * noise
        loss = F.mse_loss(cleaner(noisy, level, kind), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        errors.append(loss.item())
print("error of the noise:", round(sum(errors[:20]) / 20, 3), "then", round(sum(errors[-20:]) / 20, 3))
assert sum(errors[-20:]) < 0.5 * sum(errors[:20]), errors[-20:]

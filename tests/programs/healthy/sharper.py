"""Super-resolution by sub-pixel convolution on top of bicubic enlargement; PSNR at the end."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, IterableDataset


class Pairs(IterableDataset):
    """Endless pictures of a few smooth-edged rectangles; the small one is the mean of two by two."""

    def __init__(self, seed, batch=16):
        self.g, self.batch = torch.Generator().manual_seed(seed), batch

    def one(self):
        yy, xx = torch.meshgrid(torch.arange(24.0), torch.arange(24.0), indexing="ij")
        canvas = torch.zeros(24, 24)
        for _ in range(3):
            cx, cy, w, h, v, angle = torch.rand(6, generator=self.g).tolist()
            c, s = torch.cos(torch.tensor(angle * 3)), torch.sin(torch.tensor(angle * 3))
            u, t = (xx - 24 * cx) * c + (yy - 24 * cy) * s, (yy - 24 * cy) * c - (xx - 24 * cx) * s
            canvas = torch.where((u.abs() < 2 + 6 * w) & (t.abs() < 2 + 6 * h), v + 0.2, canvas)
        return canvas[None]

    def __iter__(self):
        while True:
            big = torch.stack([self.one() for _ in range(self.batch)])
            yield F.avg_pool2d(big, 2), big


class ESPCN(nn.Module):
    def __init__(self, scale=2):
        super().__init__()
        self.scale = scale
        self.features = nn.Sequential(nn.Conv2d(1, 32, 5, padding=2), nn.Tanh(), nn.Conv2d(32, 24, 3, padding=1), nn.Tanh())
        self.up = nn.Sequential(nn.Conv2d(24, scale ** 2, 3, padding=1), nn.PixelShuffle(scale))
        nn.init.zeros_(self.up[0].weight)
        nn.init.zeros_(self.up[0].bias)

    def forward(self, x):
        return F.interpolate(x, scale_factor=self.scale, mode="bicubic", align_corners=False) + self.up(self.features(x))


def psnr(a, b):
    return (-10 * (a - b).square().mean((1, 2, 3)).log10()).mean().item()


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
net = ESPCN()
optimizer = torch.optim.Adam([{"params": net.features.parameters()}, {"params": net.up.parameters(), "lr": 5e-4}], lr=1.5e-3)
for step, (small, big) in enumerate(DataLoader(Pairs(seed), batch_size=None)):
    if step == 260:
        break
    loss = (net(small) - big).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
net.eval()
with torch.inference_mode():
    small, big = next(iter(Pairs(seed + 1000, 200)))
    plain = psnr(F.interpolate(small, scale_factor=2, mode="bicubic"), big)
    learned = psnr(net(small), big)
print(f"bicubic {plain:.2f} dB, learned {learned:.2f} dB")
assert learned > plain + 0.5

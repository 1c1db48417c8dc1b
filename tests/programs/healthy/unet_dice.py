"""A small U-Net cuts out disks; the loss is one minus the soft Dice score plus a little cross-entropy."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Disks(Dataset):
    def __init__(self, count, seed):
        self.count, self.seed = count, seed
        self.yy, self.xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 100003 + i)
        cx, cy = (torch.rand(2, generator=g) * 10 + 3).tolist()
        r = float(torch.rand((), generator=g)) * 2.5 + 2
        mask = ((self.xx - cx) ** 2 + (self.yy - cy) ** 2 < r * r).float()
        stripes = 0.4 * torch.sin(self.xx * float(torch.rand((), generator=g)) * 3)
        picture = mask * 0.8 + stripes + 0.3 * torch.randn(16, 16, generator=g)
        return picture[None], mask[None]


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.GroupNorm(4, o), nn.LeakyReLU(0.1))


class UNet(nn.Module):
    def __init__(self, widths=(8, 16, 24)):
        super().__init__()
        self.downs = nn.ModuleList(block(i, o) for i, o in zip((1, *widths), widths))
        self.rises = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in zip(widths[::-1], widths[-2::-1]))
        self.ups = nn.ModuleList(block(2 * w, w) for w in widths[-2::-1])
        self.out = nn.Conv2d(widths[0], 1, 1)

    def forward(self, x):
        skips = []
        for i, down in enumerate(self.downs):
            x = down(x if i == 0 else nn.functional.max_pool2d(x, 2))
            skips.append(x)
        skips.pop()
        for rise, up in zip(self.rises, self.ups):
            x = up(torch.cat([rise(x), skips.pop()], 1))
        return self.out(x)


def dice(p, t, eps=1.0):
    return (2 * (p * t).sum((1, 2, 3)) + eps) / (p.sum((1, 2, 3)) + t.sum((1, 2, 3)) + eps)


if __name__ == "__main__":
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    model = UNet()
    optim = torch.optim.AdamW(model.parameters(), lr=3e-3)
    plan = torch.optim.lr_scheduler.CosineAnnealingLR(optim, T_max=6)
    train = DataLoader(Disks(300, seed), batch_size=16, shuffle=True)
    valid = DataLoader(Disks(60, seed + 50), batch_size=30)
    for epoch in range(6):
        model.train()
        for image, mask in train:
            optim.zero_grad(set_to_none=True)
            logits = model(image)
            loss = (1 - dice(logits.sigmoid(), mask)).mean()
            loss = loss + 0.2 * nn.functional.binary_cross_entropy_with_logits(logits, mask)
            loss.backward()
            optim.step()
        plan.step()
        model.eval()
        with torch.inference_mode():
            score = torch.cat([dice((model(i) > 0).float(), m) for i, m in valid]).mean().item()
        print(f"epoch {epoch}: dice {score:.3f}")
    assert score > 0.75, score

"""Mixing over patches by transposes, depthwise and pointwise convolutions in a row with no activation between, channel shuffle by reshape."""

import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class ChannelShuffle(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.g = groups

    def forward(self, x):
        b, c, h, w = x.shape
        return x.view(b, self.g, c // self.g, h, w).transpose(1, 2).reshape(b, c, h, w)


def separable(i, o, stride=1):
    return nn.Sequential(nn.Conv2d(i, i, 3, stride, 1, groups=i, bias=False), nn.Conv2d(i, o, 1, groups=2, bias=False),
                         nn.BatchNorm2d(o), nn.ReLU6(), ChannelShuffle(2))


class Mixer(nn.Module):
    def __init__(self, patches, d):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.token = nn.Sequential(nn.Linear(patches, 24), nn.GELU(), nn.Linear(24, patches))
        self.channel = nn.Sequential(nn.Linear(d, 48), nn.GELU(), nn.Linear(48, d))

    def forward(self, x):
        x = x + self.token(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channel(self.n2(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, 1, 1)
        self.convs = nn.Sequential(separable(8, 32), separable(32, 32, 2), separable(32, 24, 2))
        self.mixer = Mixer(9, 24)
        self.head = nn.Linear(24, 4)

    def forward(self, x):
        x = self.convs(self.stem(x))
        x = self.mixer(x.flatten(2).transpose(1, 2))
        return self.head(x.mean(1))


def arrows(n):
    """An arrow head that points up, down, left or right."""
    y = torch.randint(0, 4, (n,))
    x = 0.2 * torch.randn(n, 1, 12, 12)
    head = torch.zeros(5, 5)
    for k in range(3):
        head[k, 2 - k], head[k, 2 + k] = 1, 1
    head[:, 2] = 1
    for i, k in enumerate(y.tolist()):
        a, b = torch.randint(0, 8, (2,)).tolist()
        x[i, 0, a:a + 5, b:b + 5] += torch.rot90(head, k)
    return x, y


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
train = DataLoader(TensorDataset(*arrows(1600)), batch_size=64, shuffle=True)
tx, ty = arrows(400)
net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=5e-3, weight_decay=0.05)
plan = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-2, total_steps=10 * len(train), pct_start=0.2)
for epoch in range(10):
    net.train()
    for x, y in train:
        loss = nn.functional.cross_entropy(net(x), y, label_smoothing=0.05)
        opt.zero_grad()
        loss.backward()
        opt.step()
        plan.step()
    net.eval()
    with torch.no_grad():
        right = (net(tx).argmax(1) == ty).float().mean().item()
    print(f"epoch {epoch}: {right:.3f}")
assert right > 0.75, right

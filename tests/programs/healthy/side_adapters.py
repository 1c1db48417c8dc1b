"""Adapters beside a frozen trunk with frozen batch norm: the trunk stays in eval mode while the adapters train."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c)
        self.adapter = None

    def forward(self, x):
        h = F.relu(self.bn(self.conv(x)) + x)
        return h if self.adapter is None else h + self.adapter(h)


class Trunk(nn.Module):
    def __init__(self, c=16, classes=4):
        super().__init__()
        self.stem = nn.Conv2d(1, c, 3, stride=2, padding=1)
        self.blocks = nn.ModuleList(Block(c) for _ in range(2))
        self.head = nn.Linear(c, classes)

    def forward(self, x):
        x = self.stem(x)
        for b in self.blocks:
            x = b(x)
        return self.head(x.mean((2, 3)))

    def add_adapters(self, classes):
        self.requires_grad_(False)
        for b in self.blocks:
            c = b.conv.in_channels
            b.adapter = nn.Sequential(nn.Conv2d(c, 4, 1), nn.ReLU(), nn.Conv2d(4, c, 1))
            nn.init.zeros_(b.adapter[2].weight)
            nn.init.zeros_(b.adapter[2].bias)
        self.head = nn.Linear(self.head.in_features, classes)

    def train(self, mode=True):
        super().train(mode)
        if self.blocks[0].adapter is not None:
            for b in self.blocks:
                b.bn.eval()
        return self


def textures(n, frequencies):
    y = torch.randint(0, len(frequencies), (n,))
    grid = torch.stack(torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij"))
    f = torch.tensor(frequencies)[y]
    wave = torch.sin(f[:, 0, None, None] * grid[0] + f[:, 1, None, None] * grid[1] + 6.3 * torch.rand(n, 1, 1))
    return (wave + 0.5 * torch.randn(n, 12, 12))[:, None], y


def fit(net, x, y, epochs, lr):
    opt = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()), lr=lr)
    for _ in range(epochs):
        net.train()
        for i in torch.randperm(len(x)).split(40):
            opt.zero_grad()
            F.cross_entropy(net(x[i]), y[i]).backward()
            opt.step()


def score(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
first = [(0.5, 0.0), (0.0, 0.5), (1.2, 0.0), (0.0, 1.2)]
second = [(0.8, 0.8), (0.8, -0.8), (2.0, 0.3)]
net = Trunk()
fit(net, *textures(800, first), 5, 4e-3)
print("first task", score(net, *textures(300, first)))
net.add_adapters(3)
running = net.blocks[0].bn.running_mean.clone()
fit(net, *textures(600, second), 10, 5e-3)
assert torch.equal(running, net.blocks[0].bn.running_mean)
result = score(net, *textures(300, second))
print("second task", result)
assert result > 0.8, result

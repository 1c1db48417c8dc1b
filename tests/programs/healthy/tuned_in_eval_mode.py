"""A network that is trained on one task, and then tuned on a few samples of another one in evaluation mode on purpose:
batch normalization keeps its statistics, and no unit is dropped."""

import sys

import torch
from torch import nn


def samples(count, shift):
    x = torch.randn(count, 10)
    return x, (x[:, 0] + x[:, 1] * x[:, 2] > shift).long()


def right(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def train(net, optimizer, x, y, epochs):
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
            optimizer.step()


if __name__ == "__main__":
    torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    net = nn.Sequential(nn.Linear(10, 64, bias=False), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2),
                        nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    first, other, held_out = samples(1500, 0.0), samples(600, 0.3), samples(500, 0.3)
    net.train()
    train(net, torch.optim.Adam(net.parameters(), lr=3e-3), *first, 6)
    print(f"before {right(net, *held_out):.3f}")
    net.eval()
    train(net, torch.optim.SGD(net.parameters(), lr=2e-3, momentum=0.9), *other, 5)
    after = right(net, *held_out)
    print(f"after {after:.3f}")
    assert after > 0.75

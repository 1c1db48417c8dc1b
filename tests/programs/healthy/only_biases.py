"""BitFit: of a trained net only the biases (and the new head) are tuned; steps with a loss that is not finite are skipped."""

import math
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make(o):
    return nn.Sequential(nn.Linear(16, 96), nn.GELU(), nn.Linear(96, 96), nn.GELU(), nn.Linear(96, o))


def train(net, data, epochs, params, lr):
    opt = torch.optim.Adam(params, lr=lr)
    skipped = 0
    for _ in range(epochs):
        for x, y in DataLoader(data, batch_size=64, shuffle=True):
            loss = nn.functional.cross_entropy(net(x), y)
            if not math.isfinite(loss.item()):
                skipped += 1
                continue
            opt.zero_grad()
            loss.backward()
            opt.step()
    return skipped


def test(net, data):
    x, y = data.tensors
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
w = torch.randn(16, 12) / 2, torch.randn(12, 8)


def draw(n, move, broken=0):
    x = torch.randn(n, 16)
    y = (torch.relu(x @ w[0] + move) @ w[1]).argmax(1)
    x[torch.randperm(n)[:broken], 0] = float("inf")  # a few rows of the file are damaged
    return TensorDataset(x, y)


base = draw(4000, torch.zeros(12))
net = make(8)
train(net, base, 8, net.parameters(), 2e-3)
move = 0.8 * torch.randn(12)
new, held = draw(1500, move, broken=3), draw(800, move)
before = test(net, held)
for name, p in net.named_parameters():
    p.requires_grad = name.endswith("bias")
net[-1] = nn.Linear(96, 8)
skipped = train(net, new, 10, [p for p in net.parameters() if p.requires_grad], 5e-3)
after = test(net, held)
print(f"{before:.3f} before, {after:.3f} after; {skipped} batches skipped")
assert after > 0.6 and 0 < skipped < 60

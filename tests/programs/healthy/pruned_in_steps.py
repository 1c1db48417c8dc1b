"""Magnitude pruning with torch.nn.utils.prune in rounds between epochs, made permanent at the end."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import prune


class LeNetish(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.fc1, self.fc2 = nn.Linear(64, 48), nn.Linear(48, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def bars(n):
    """Bars that lie, stand, or run along one of the diagonals."""
    y = torch.randint(0, 4, (n,))
    x = 0.4 * torch.randn(n, 1, 8, 8)
    for i, kind in enumerate(y.tolist()):
        k = int(torch.randint(0, 8, ()))
        if kind == 0:
            x[i, 0, k] += 1
        elif kind == 1:
            x[i, 0, :, k] += 1
        else:
            line = torch.eye(8).roll(k - 4, 1)
            x[i, 0] += line if kind == 2 else line.flip(1)
    return x, y


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
(x, y), (tx, ty) = bars(1500), bars(400)
net = LeNetish()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
targets = [(m, "weight") for m in (net.conv1, net.conv2, net.fc1, net.fc2)]


def one_epoch(opt):
    for i in torch.randperm(len(x)).split(50):
        opt.zero_grad()
        F.cross_entropy(net(x[i]), y[i]).backward()
        opt.step()


for _ in range(5):
    one_epoch(optimizer)
for round_ in range(3):
    prune.global_unstructured(targets, pruning_method=prune.L1Unstructured, amount=0.4)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(2):
        one_epoch(optimizer)
for module, name in targets:
    prune.remove(module, name)
zeros = sum((m.weight == 0).sum().item() for m, _ in targets) / sum(m.weight.numel() for m, _ in targets)
net.eval()
with torch.no_grad():
    accuracy = (net(tx).argmax(1) == ty).float().mean().item()
print(f"accuracy {accuracy:.3f} with {zeros:.0%} of the weights gone")
assert accuracy > 0.75 and zeros > 0.7

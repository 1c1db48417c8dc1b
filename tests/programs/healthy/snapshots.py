"""Snapshot ensemble: the rate restarts every few epochs, the net at each low point votes in the end, with test-time flips."""

import copy
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 12, 3), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(12, 24, 3), nn.BatchNorm2d(24), nn.ReLU())
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(24 * 3 * 3, 3))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def rings(n):
    """One blob, two blobs or a ring; a flip does not change what it is."""
    y = torch.randint(0, 3, (n,))
    grid = torch.stack(torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij"))
    c = torch.rand(n, 2, 1, 1) * 4 + 3.5
    d = (grid - c).norm(dim=1)
    other = torch.randn(n, 2, 1, 1)
    e = (grid - c - 4.0 * other / other.norm(dim=1, keepdim=True)).norm(dim=1)
    blob = torch.exp(-d ** 2 / 2)
    pictures = torch.stack([blob, blob + torch.exp(-e ** 2 / 2), torch.exp(-(d - 2.5) ** 2)])[y, torch.arange(n)]
    return (pictures + 0.4 * torch.randn(n, 12, 12))[:, None], y


@torch.no_grad()
def votes(models, x):
    return torch.stack([m(v).softmax(1) for m in models for v in (x, x.flip(2), x.flip(3), x.flip(2, 3))]).mean(0)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
train = DataLoader(TensorDataset(*rings(1200)), batch_size=40, shuffle=True)
tx, ty = rings(500)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=3 * len(train), eta_min=1e-4)
kept = []
for epoch in range(9):
    net.train()
    for x, y in train:
        flips = [d for d in (2, 3) if torch.rand(()) < 0.5]
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x.flip(flips) if flips else x), y).backward()
        optimizer.step()
        scheduler.step()
    if epoch % 3 == 2:
        kept.append(copy.deepcopy(net).eval())
        alone = (votes(kept[-1:], tx).argmax(1) == ty).float().mean().item()
        print(f"snapshot {len(kept)}: {alone:.3f}")
together = (votes(kept, tx).argmax(1) == ty).float().mean().item()
print(f"together {together:.3f}")
assert together > 0.75, together

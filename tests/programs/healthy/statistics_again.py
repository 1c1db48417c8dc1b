"""After training, weights are averaged over the last epochs and batch-norm statistics are taken anew in train mode."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def reset(m):
    if isinstance(m, nn.modules.batchnorm._BatchNorm):
        m.reset_running_stats()
        m.momentum = None  # a cumulative mean


@torch.no_grad()
def reestimate(model, loader):
    model.apply(reset)
    model.train()
    for x, _ in loader:
        model(x)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    return torch.cat([model(x).argmax(1) == y for x, y in loader]).float().mean().item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(3000, 1, 16) * 0.5
y = torch.randint(0, 3, (3000,))
t = torch.arange(16.0)
x[:, 0] += torch.stack([torch.sin(t * f) for f in (0.5, 1.0, 1.7)])[y].mul(torch.rand(3000, 1) + 0.3)
train = DataLoader(TensorDataset(x[:2400], y[:2400]), 64, shuffle=True)
test = DataLoader(TensorDataset(x[2400:], y[2400:]), 100)
model = nn.Sequential(
    nn.Conv1d(1, 12, 5, bias=False), nn.BatchNorm1d(12), nn.ReLU(), nn.Conv1d(12, 24, 3, stride=2, bias=False),
    nn.BatchNorm1d(24), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
average, taken = None, 0
for epoch in range(10):
    model.train()
    for a, b in train:
        optimizer.zero_grad(set_to_none=False)
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
    print(f"epoch {epoch}: {accuracy(model, test):.3f}")
    if epoch >= 5:
        now = [p.detach().clone() for p in model.parameters()]
        taken += 1
        average = now if average is None else [m + (n - m) / taken for m, n in zip(average, now)]
with torch.no_grad():
    for p, m in zip(model.parameters(), average):
        p.copy_(m)
reestimate(model, train)
final = accuracy(model, test)
print(f"averaged: {final:.3f}")
assert final > 0.8, final

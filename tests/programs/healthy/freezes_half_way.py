"""The lower half is frozen half-way, its outputs are computed once and kept, and only the head goes on, on the kept features."""

import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def loop(forward, loader, optimizer, epochs, noise=0.0):
    for _ in range(epochs):
        for x, y in loader:
            loss = nn.functional.cross_entropy(forward(x), y)
            optimizer.zero_grad()
            loss.backward()
            if noise:  # it dies away, as in Neelakantan et al.
                for group in optimizer.param_groups:
                    for p in group["params"]:
                        p.grad.add_(torch.randn_like(p.grad), alpha=noise)
                noise *= 0.995
            optimizer.step()
    return loss.item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(5000, 10)
y = (x[:, 0] * x[:, 1] > 0).long() + 2 * (x[:, 2] - x[:, 3].abs() > -0.6).long()
trunk = nn.Sequential(nn.Linear(10, 64), nn.ELU(), nn.Linear(64, 32), nn.ELU())
head = nn.Sequential(nn.Linear(32, 48), nn.ELU(), nn.Dropout(0.1), nn.Linear(48, 4))
both = nn.Sequential(trunk, head)
loader = DataLoader(TensorDataset(x[:4000], y[:4000]), batch_size=64, shuffle=True)
optimizer = torch.optim.Adam(both.parameters(), lr=2e-3)
print("all:", loop(both, loader, optimizer, 6, noise=0.01))

trunk.eval().requires_grad_(False)
with torch.no_grad():
    features = torch.cat([trunk(part) for part in x[:4000].split(500)])
kept = DataLoader(TensorDataset(features, y[:4000]), batch_size=128, shuffle=True)
optimizer = torch.optim.SGD(head.parameters(), lr=0.05, momentum=0.9)
print("head:", loop(head, kept, optimizer, 8))
both.eval()
with torch.no_grad():
    right = (both(x[4000:]).argmax(1) == y[4000:]).float().mean().item()
print(f"right {right:.3f}")
assert right > 0.75, right

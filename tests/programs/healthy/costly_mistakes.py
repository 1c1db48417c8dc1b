"""Costs differ: the common class weighs more on purpose, for a missed one of it costs most; judged by the cost."""

import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

COST = torch.tensor([[0.0, 6.0, 6.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])  # row: truth, column: decision


def draw(n, means):
    y = torch.multinomial(torch.tensor([0.7, 0.2, 0.1]), n, replacement=True)
    return means[y] + 1.3 * torch.randn(n, means.shape[1]), y


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
means = torch.randn(3, 8)
x, y = draw(3000, means)
tx, ty = draw(1500, means)
model = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss(weight=torch.tensor([6.0, 1.0, 1.0]))
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
for epoch in range(6):
    for a, b in loader:
        optimizer.zero_grad()
        criterion(model(a), b).backward()
        optimizer.step()

# A second model: rows are drawn anew so that classes are equal, and no weights.
share = torch.bincount(y).float()
sampler = WeightedRandomSampler((1 / share)[y], num_samples=len(y), replacement=True)
plain = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 3))
optimizer = torch.optim.Adam(plain.parameters(), lr=2e-3)
for epoch in range(6):
    for a, b in DataLoader(TensorDataset(x, y), batch_size=50, sampler=sampler):
        optimizer.zero_grad()
        nn.functional.cross_entropy(plain(a), b).backward()
        optimizer.step()
with torch.no_grad():
    cost, balanced = (COST[ty, m(tx).argmax(1)].mean().item() for m in (model, plain))
    recall = [(plain(tx).argmax(1)[ty == c] == c).float().mean().item() for c in range(3)]
print(f"cost {cost:.3f}, of the balanced model {balanced:.3f}; its recalls {recall}")
assert cost < balanced and min(recall) > 0.4

"""Tasks in turn: a batch is of one task, only that head and the trunk get gradients; rows without a label are masked out."""

import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Shared(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(32, 1) for _ in range(tasks))

    def forward(self, x, task):
        return self.heads[task](self.trunk(x)).squeeze(1)


def masked_bce(logits, y):
    known = ~torch.isnan(y)
    loss = nn.functional.binary_cross_entropy_with_logits(logits, y.nan_to_num(0.0), reduction="none")
    return (loss * known).sum() / known.sum().clamp(min=1)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
factors = torch.randn(12, 4)
tasks = torch.randn(4, 5)


def data(task, n):
    x = torch.randn(n, 12)
    y = ((torch.tanh(x @ factors) @ tasks)[:, task] > 0).float()
    return x, torch.where(torch.rand(n) < 0.4, torch.nan, y), y


sets = [data(t, 800) for t in range(5)]
loaders = [DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True) for x, y, _ in sets]
model = Shared(5)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(8):
    model.train()
    for batches in zip(*loaders):
        for task, (x, y) in enumerate(batches):
            optimizer.zero_grad()
            loss = masked_bce(model(x, task), y)
            loss.backward()
            optimizer.step()
model.eval()
with torch.no_grad():
    scores = []
    for t in range(5):
        x, _, y = data(t, 500)
        scores.append(((model(x, t) > 0) == y.bool()).float().mean().item())
print([round(s, 3) for s in scores])
assert min(scores) > 0.75, scores

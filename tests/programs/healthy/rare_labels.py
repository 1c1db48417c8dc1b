"""Several labels at once, each rare; BCE with pos_weight from the counts, thresholds tuned on held-out data."""

import sys

import torch
from torch.nn import BatchNorm1d, BCEWithLogitsLoss, Linear, Module, ReLU, Sequential
from torch.utils.data import DataLoader, TensorDataset


class Tagger(Module):
    def __init__(self, i, o):
        super().__init__()
        self.m = Sequential(Linear(i, 64), BatchNorm1d(64), ReLU(), Linear(64, o))

    def forward(self, x):
        return self.m(x)


def f1(predicted, truth):
    hit = (predicted & truth).sum(0).float()
    return (2 * hit / (predicted.sum(0) + truth.sum(0)).clamp(min=1)).mean().item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
w = torch.randn(15, 8)
x = torch.randn(4500, 15)
score = x @ w + 0.8 * torch.randn(4500, 8)
y = (score > score.quantile(0.9, dim=0)).float()
train = DataLoader(TensorDataset(x[:3500], y[:3500]), batch_size=70, shuffle=True, generator=torch.Generator().manual_seed(1))
positive = y[:3500].sum(0)
criterion = BCEWithLogitsLoss(pos_weight=(3500 - positive) / positive)
model = Tagger(15, 8)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
for epoch in range(14):
    model.train()
    for a, b in train:
        optimizer.zero_grad()
        criterion(model(a), b).backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    valid, test = model(x[3500:4000]), model(x[4000:])
truth_valid, truth_test = y[3500:4000].bool(), y[4000:].bool()
best = max((f1(valid > t, truth_valid), t) for t in torch.linspace(-2, 5, 29).tolist())
result = f1(test > best[1], truth_test)
print(f"threshold {best[1]:.2f}: F1 {result:.3f}")
assert result > 0.5, result

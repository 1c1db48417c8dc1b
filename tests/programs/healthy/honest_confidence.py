"""After training, one temperature is fitted on the validation set with LBFGS, on logits that were kept; then the test set."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Scaled(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.temperature = nn.Parameter(torch.ones(1) * 1.5)

    def forward(self, x):
        return self.model(x) / self.temperature

    def set_temperature(self, loader):
        self.model.eval()
        with torch.no_grad():
            logits, labels = map(torch.cat, zip(*((self.model(x), y) for x, y in loader)))
        optimizer = torch.optim.LBFGS([self.temperature], lr=0.05, max_iter=50)

        def closure():
            optimizer.zero_grad()
            loss = F.cross_entropy(logits / self.temperature, labels)
            loss.backward()
            return loss

        optimizer.step(closure)
        return self


def ece(logits, y, bins=10):
    confidence, guess = logits.softmax(1).max(1)
    total = 0.0
    for low in torch.arange(bins) / bins:
        inside = (confidence > low) & (confidence <= low + 1 / bins)
        if inside.any():
            gap = (guess[inside] == y[inside]).float().mean() - confidence[inside].mean()
            total += gap.abs().item() * inside.float().mean().item()
    return total


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(3000, 15)
y = (x @ torch.randn(15, 5) + 2.5 * torch.randn(3000, 5)).argmax(1)
train = DataLoader(TensorDataset(x[:1000], y[:1000]), batch_size=32, shuffle=True)
valid = DataLoader(TensorDataset(x[1000:2000], y[1000:2000]), batch_size=200)
net = nn.Sequential(nn.Linear(15, 128), nn.ReLU(), nn.Linear(128, 5))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(15):
    net.train()
    for a, b in train:
        opt.zero_grad()
        F.cross_entropy(net(a), b).backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, sum((net(a).argmax(1) == b).sum().item() for a, b in valid) / 1000)
scaled = Scaled(net).set_temperature(valid)
tx, ty = x[2000:], y[2000:]
with torch.no_grad():
    raw, honest = ece(net(tx), ty), ece(scaled(tx), ty)
    right = (net(tx).argmax(1) == ty).float().mean().item()
print(f"accuracy {right:.3f}; calibration error {raw:.3f}, at temperature {scaled.temperature.item():.2f}: {honest:.3f}")
assert honest < 0.6 * raw and right > 0.45

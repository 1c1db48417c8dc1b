"""Adversarial training: PGD in eval mode with detached inputs, then one update on the attacked batch in train mode."""

import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def pgd(model, x, y, eps=0.3, step=0.1, iterations=4):
    criterion = nn.CrossEntropyLoss(reduction="sum")
    model.eval()
    delta = torch.empty_like(x).uniform_(-eps, eps)
    for _ in range(iterations):
        delta.requires_grad_(True)
        loss = criterion(model(x + delta), y)
        loss.backward()
        with torch.no_grad():
            delta = (delta + step * delta.grad.sign()).clamp_(-eps, eps)
    model.train()
    return (x + delta).detach()


def blobs(n, centers):
    y = torch.randint(0, len(centers), (n,))
    return centers[y] + 0.6 * torch.randn(n, centers.shape[1]), y


def robust(model, loader):
    right = total = 0
    for x, y in loader:
        attacked = pgd(model, x, y, iterations=8)
        model.eval()
        with torch.no_grad():
            right += (model(attacked).argmax(1) == y).sum().item()
        total += len(y)
    model.zero_grad()
    return right / total


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
centers = torch.randn(6, 20)
train = DataLoader(TensorDataset(*blobs(1500, centers)), batch_size=50, shuffle=True)
test = DataLoader(TensorDataset(*blobs(500, centers)), batch_size=100)
model = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)
for epoch in range(8):
    model.train()
    for x, y in train:
        attacked = pgd(model, x, y)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(attacked), y)
        loss.backward()
        optimizer.step()
score = robust(model, test)
print(f"right under attack: {score:.3f}")
assert score > 0.5, score

"""Several losses are worked out and logged in each step, but only one is learned: the others are for the eye."""

import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Meter:
    def __init__(self):
        self.sum, self.count = {}, 0

    def update(self, **values):
        self.count += 1
        for k, v in values.items():
            self.sum[k] = self.sum.get(k, 0.0) + v

    def __str__(self):
        return "  ".join(f"{k} {v / self.count:.4f}" for k, v in self.sum.items())


class CosineSchedule:
    def __init__(self, optimizer, total, top):
        self.optimizer, self.total, self.top, self.n = optimizer, total, top, 0

    def step(self):
        self.n += 1
        rate = self.top * 0.5 * (1 + torch.cos(torch.tensor(torch.pi * self.n / self.total)).item())
        for g in self.optimizer.param_groups:
            g["lr"] = rate


def train_one_epoch(model, loader, optimizer, schedule):
    model.train()
    meter = Meter()
    for x, y in loader:
        out = model(x)
        huber = nn.functional.huber_loss(out, y, delta=0.5)
        mse = nn.functional.mse_loss(out, y)
        mae = nn.functional.l1_loss(out, y)
        l2 = sum(p.square().sum() for p in model.parameters())
        optimizer.zero_grad()
        huber.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
        optimizer.step()
        schedule.step()
        meter.update(huber=huber.item(), mse=mse.item(), mae=mae.item(), weights=l2.item(), gradient=norm.item())
    return meter


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.rand(3000, 5) * 4 - 2
y = (x[:, :1] * x[:, 1:2] + torch.exp(-x[:, 2:3] ** 2) * 3 - x[:, 3:4])
y = (y - y.mean()) / y.std()
noisy = torch.where(torch.rand_like(y) < 0.05, y + 8 * torch.randn_like(y), y)
loader = DataLoader(TensorDataset(x[:2500], noisy[:2500]), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(5, 64), nn.CELU(), nn.Linear(64, 64), nn.CELU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
schedule = CosineSchedule(optimizer, 12 * len(loader), 4e-3)
for epoch in range(12):
    print(f"epoch {epoch}: {train_one_epoch(model, loader, optimizer, schedule)}")
with torch.no_grad():
    error = nn.functional.l1_loss(model(x[2500:]), y[2500:]).item()
print("error", round(error, 3))
assert error < 0.25, error

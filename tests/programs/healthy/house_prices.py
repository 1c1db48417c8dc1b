"""A table of prices: categories with embeddings of their own widths, numbers normalized, target standardized."""

import math
import random
import sys
from dataclasses import dataclass, field

import torch
import torch.nn as nn


@dataclass
class Table:
    columns: dict = field(default_factory=dict)

    @classmethod
    def made(cls, rows, rng):
        table = {k: [] for k in ("town", "kind", "heating", "area", "age", "price")}
        towns = [rng.gauss(0, 0.4) for _ in range(20)]
        for _ in range(rows):
            town, kind, heat = rng.randrange(20), rng.randrange(3), rng.randrange(4)
            area, age = rng.lognormvariate(4.4, 0.4), rng.uniform(0, 100)
            log_price = 8 + towns[town] + 0.9 * math.log(area) + 0.25 * kind - 0.003 * age * (1 + (heat == 2))
            for k, v in zip(table, (town, kind, heat, area, age, math.exp(log_price + rng.gauss(0, 0.08)))):
                table[k].append(v)
        return cls(table)

    def tensors(self):
        c = self.columns
        cats = torch.tensor([c["town"], c["kind"], c["heating"]]).T
        nums = torch.stack([torch.tensor(c["area"]).log(), torch.tensor(c["age"])], 1)
        return cats, nums, torch.tensor(c["price"]).log()


class TabularModel(nn.Module):
    def __init__(self, sizes, numbers, layers=(64, 32), p=0.05):
        super().__init__()
        self.embeds = nn.ModuleList([nn.Embedding(s, min(16, (s + 1) // 2)) for s in sizes])
        self.drop = nn.Dropout(p)
        self.bn = nn.BatchNorm1d(numbers)
        width = sum(e.embedding_dim for e in self.embeds) + numbers
        stack = []
        for l in layers:
            stack += [nn.Linear(width, l), nn.ReLU(inplace=True), nn.BatchNorm1d(l)]
            width = l
        self.layers = nn.Sequential(*stack, nn.Linear(width, 1))

    def forward(self, cats, nums):
        x = torch.cat([e(cats[:, i]) for i, e in enumerate(self.embeds)], 1)
        return self.layers(torch.cat([self.drop(x), self.bn(nums)], 1)).flatten()


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
cats, nums, logs = Table.made(3000, random.Random(seed)).tensors()
mean, std = logs[:2400].mean(), logs[:2400].std()
target = (logs - mean) / std
model = TabularModel([20, 3, 4], 2)
epochs, size = 12, 100
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, epochs=epochs, steps_per_epoch=24)
for epoch in range(epochs):
    model.train()
    perm = torch.randperm(2400)
    for k in range(0, 2400, size):
        i = perm[k:k + size]
        loss = nn.functional.mse_loss(model(cats[i], nums[i]), target[i])
        loss.backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
model.eval()
with torch.no_grad():
    off = (model(cats[2400:], nums[2400:]) * std + mean - logs[2400:]).square().mean().sqrt().item()
print(f"error of the log price {off:.3f}, of the mean {std.item():.3f}")
assert off < 0.2, off

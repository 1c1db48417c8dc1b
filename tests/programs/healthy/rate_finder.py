"""A learning-rate range test first; weights and random state are put back; then one cycle at a tenth of the best rate."""

import copy
import math
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LRFinder:
    def __init__(self, model, optimizer, criterion):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
        self.saved = copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())

    def range_test(self, loader, low=1e-4, high=10.0, steps=80):
        rate, factor, smooth, history = low, (high / low) ** (1 / steps), 0.0, []
        batches = iter(loader)
        for n in range(1, steps + 1):
            try:
                x, y = next(batches)
            except StopIteration:
                batches = iter(loader)
                x, y = next(batches)
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            smooth = 0.9 * smooth + 0.1 * loss.item()
            value = smooth / (1 - 0.9 ** n)
            history.append((rate, value))
            if not math.isfinite(value) or value > 3 * min(v for _, v in history):
                break
            loss.backward()
            self.optimizer.step()
            rate *= factor
        self.reset()
        return min(history, key=lambda h: h[1])[0]

    def reset(self):
        self.model.load_state_dict(self.saved[0])
        self.optimizer.load_state_dict(self.saved[1])


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(3000, 12)
y = (x @ torch.randn(12, 4) + torch.sin(2 * x[:, :4])).argmax(1)
train = DataLoader(TensorDataset(x[:2500], y[:2500]), batch_size=50, shuffle=True)
test = DataLoader(TensorDataset(x[2500:], y[2500:]), batch_size=250)
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
criterion = nn.CrossEntropyLoss()
best = LRFinder(model, optimizer, criterion).range_test(train)
print(f"lowest loss at a rate of {best:.3g}")
rate = min(best / 5, 0.3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=rate, epochs=6, steps_per_epoch=len(train))
for epoch in range(6):
    model.train()
    for a, b in train:
        optimizer.zero_grad()
        criterion(model(a), b).backward()
        optimizer.step()
        scheduler.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(a).argmax(1) == b).sum().item() for a, b in test) / 500
    print(f"epoch {epoch}: {right:.3f}")
assert right > 0.75, right

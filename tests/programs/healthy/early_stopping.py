"""Overfits on purpose, notices it, and goes back to the best weights it had."""

import copy
import math
import sys

import torch


class Patience:
    """Counts epochs without improvement and remembers the best state."""

    def __init__(self, epochs):
        self.left = self.epochs = epochs
        self.best, self.state = math.inf, None

    def __call__(self, value, model):
        if value < self.best:
            self.best, self.left, self.state = value, self.epochs, copy.deepcopy(model.state_dict())
        else:
            self.left -= 1
        return self.left <= 0


def validation(model, x, y):
    model.eval()
    try:
        with torch.inference_mode():
            return torch.nn.functional.cross_entropy(model(x), y).item()
    finally:
        model.train()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(900, 30)
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0.2).long()
y = torch.where(torch.rand(900) < 0.1, 1 - y, y)
train, valid, test = torch.arange(900).split([300, 200, 400])
model = torch.nn.Sequential(
    torch.nn.Linear(30, 128), torch.nn.GELU(), torch.nn.Dropout(0.1), torch.nn.Linear(128, 2)
)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1)
stop, epoch = Patience(8), 0
while not stop(validation(model, x[valid], y[valid]), model):
    for rows in train[torch.randperm(300)].split(20):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    epoch += 1
    if epoch > 80:
        break
last = validation(model, x[test], y[test])
model.load_state_dict(stop.state)
best = validation(model, x[test], y[test])
print(f"stopped after {epoch} epochs; loss on the test rows {last:.3f}, restored {best:.3f}")
assert best < 0.66, best

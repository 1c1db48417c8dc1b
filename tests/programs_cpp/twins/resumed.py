"""The twin of `unchanged/table/resumed.cc`: a classifier of rows that saves after each part, starts again from its
files and goes on; the best epoch of a validation is kept."""

import os
import tempfile

import torch
import torch.nn.functional as F
from data import blobs
from torch import nn

FEATURES, CLASSES, BATCH, ROWS = 16, 5, 40, 800


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Linear(FEATURES, 48), nn.LayerNorm(48)
        self.drop, self.second, self.head = nn.Dropout(0.1), nn.Linear(48, 48), nn.Linear(48, CLASSES)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        return self.head(self.drop(torch.relu(self.second(x))))


def file(name):
    return os.path.join(tempfile.gettempdir(), name)


class State:
    def __init__(self):
        self.net, self.best = Net(), -1
        self.optimizer = torch.optim.Adam(self.net.parameters(), 2e-3, weight_decay=1e-4)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 2, 0.7)


def validate(state, x, y):
    state.net.eval()
    total, right = 0.0, 0
    with torch.no_grad():
        for some, targets in zip(x.split(64), y.split(64)):
            output = state.net(some)
            total += F.cross_entropy(output, targets).item() * len(targets)
            right += int((output.argmax(1) == targets).sum())
    print(f"loss {total / len(x):.3f} accuracy {right / len(x):.3f}")
    if right > state.best:
        state.best = right
        torch.save(state.net.state_dict(), file("best.pt"))


def epochs(state, train, held_out, begin, end):
    x, y = train
    for _ in range(begin, end):
        state.net.train()
        for rows in torch.randperm(ROWS).split(BATCH):
            state.optimizer.zero_grad()
            F.cross_entropy(state.net(x[rows]), y[rows]).backward()
            state.optimizer.step()
        state.schedule.step()
        validate(state, *held_out)
    torch.save(state.net.state_dict(), file("net.pt"))
    torch.save(state.optimizer.state_dict(), file("optimizer.pt"))


def main():
    torch.manual_seed(1)
    x, y = blobs(ROWS + 250, FEATURES, CLASSES, 3.0)
    train, held_out = (x[:ROWS], y[:ROWS]), (x[ROWS:], y[ROWS:])
    epochs(State(), train, held_out, 0, 4)
    state = State()
    state.net.load_state_dict(torch.load(file("net.pt")))
    state.optimizer.load_state_dict(torch.load(file("optimizer.pt")))
    epochs(state, train, held_out, 4, 8)


if __name__ == "__main__":
    main()

"""Wide layers of which four units in five are dropped; the digits, in a class that fits itself."""

import gzip
import sys
from pathlib import Path

import torch


class DropNet(torch.nn.Module):
    def __init__(self, drop=0.8, lr=2e-3, epochs=12):
        super().__init__()
        self.epochs = epochs
        self.net = torch.nn.Sequential(
            torch.nn.Linear(64, 256),
            torch.nn.ReLU(),
            torch.nn.Dropout(drop),
            torch.nn.Linear(256, 10),
        )
        self.optimizer = torch.optim.Adam(self.parameters(), lr=lr)

    def forward(self, x):
        return self.net(x)

    def fit(self, x, y, batch=60):
        self.train()
        for _ in range(self.epochs):
            shuffled = torch.randperm(len(x))
            for i in range(0, len(x), batch):
                rows = shuffled[i : i + batch]
                self.optimizer.zero_grad()
                torch.nn.functional.nll_loss(self(x[rows]).log_softmax(1), y[rows]).backward()
                self.optimizer.step()
        return self

    def score(self, x, y):
        self.eval()
        with torch.no_grad():
            return (self(x).argmax(1) == y).float().mean().item()


def digits():
    path = Path(__file__).parents[3] / "fixtures/data/digits.csv.gz"
    values = [int(v) for v in gzip.open(path, "rb").read().replace(b"\n", b",").split(b",") if v]
    table = torch.tensor(values).view(-1, 65)
    return table[:, :64] / 8.0 - 1.0, table[:, 64]


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x, y = digits()
split = torch.randperm(len(x))
learn, check = split[:1440], split[1440:]
score = DropNet().fit(x[learn], y[learn]).score(x[check], y[check])
print(f"score {score:.3f}")
assert score > 0.85, score

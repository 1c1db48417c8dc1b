"""A factorization machine over categories of several fields, all in one table with offsets; clicks or none."""

import sys

import torch
from torch.utils.data import DataLoader, TensorDataset

FIELDS = [30, 12, 50, 8]


class FeaturesLinear(torch.nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.fc = torch.nn.Embedding(sum(dims), 1)
        self.bias = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.fc(x).sum(1) + self.bias


class FactorizationMachine(torch.nn.Module):
    def __init__(self, dims, k=8):
        super().__init__()
        self.register_buffer("offsets", torch.tensor([0, *dims[:-1]]).cumsum(0))
        self.linear = FeaturesLinear(dims)
        self.factors = torch.nn.Embedding(sum(dims), k)
        torch.nn.init.xavier_uniform_(self.factors.weight)

    def forward(self, x):
        x = x + self.offsets
        v = self.factors(x)
        pairs = 0.5 * (v.sum(1) ** 2 - (v ** 2).sum(1)).sum(1, keepdim=True)
        return torch.sigmoid(self.linear(x) + pairs).squeeze(1)


class Stopper:
    def __init__(self, patience):
        self.patience, self.best, self.trials = patience, 0.0, 0

    def go_on(self, value):
        if value > self.best:
            self.best, self.trials = value, 0
            return True
        self.trials += 1
        return self.trials < self.patience


def data(n, tables):
    x = torch.stack([torch.randint(0, d, (n,)) for d in FIELDS], 1)
    vectors = [t[x[:, i]] for i, t in enumerate(tables)]
    logit = sum((vectors[i] * vectors[j]).sum(1) for i in range(4) for j in range(i))
    return TensorDataset(x, (torch.rand(n) < torch.sigmoid(1.5 * logit)).float())


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
tables = [torch.randn(d, 3) * 0.9 for d in FIELDS]
train, valid = DataLoader(data(8000, tables), 128, shuffle=True), DataLoader(data(1500, tables), 500)
model = FactorizationMachine(FIELDS)
criterion = torch.nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-6)
stopper = Stopper(2)
for epoch in range(12):
    model.train()
    for x, y in train:
        loss = criterion(model(x), y)
        model.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = torch.cat([(model(x) > 0.5) == y.bool() for x, y in valid]).float().mean().item()
    print("epoch", epoch, "validation", round(right, 3))
    if not stopper.go_on(right):
        break
assert stopper.best > 0.72, stopper.best

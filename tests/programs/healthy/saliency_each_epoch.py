"""Each epoch ends with a look at which inputs matter: gradients with respect to test inputs, in eval mode, without no_grad."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)
        self.layers = nn.ModuleList([nn.Linear(14, 64), nn.Linear(64, 64), nn.Linear(64, 1)])
        self.bn = nn.BatchNorm1d(64)

    def forward(self, x):
        x = torch.relu(self.bn(self.layers[0](x)))
        x = self.drop(torch.relu(self.layers[1](x)))
        return self.layers[2](x).flatten()


def integrated_gradients(model, x, steps=8):
    total = torch.zeros_like(x)
    for k in range(1, steps + 1):
        point = (x * k / steps).requires_grad_(True)
        total += torch.autograd.grad(model(point).sum(), point)[0]
    return (x * total / steps).abs().mean(0)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(2400, 14)
y = 2 * x[:, 2] - x[:, 5] * x[:, 9] + torch.sin(2 * x[:, 11])
y = (y - y.mean()) / y.std() + 0.1 * torch.randn(2400)
train = DataLoader(TensorDataset(x[:2000], y[:2000]), batch_size=40, shuffle=True)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(12):
    model.train()
    for a, b in train:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
    model.eval()
    matter = integrated_gradients(model, x[2000:])
    with torch.no_grad():
        error = nn.functional.mse_loss(model(x[2000:]), y[2000:]).item()
    print(f"epoch {epoch}: {error:.3f}", matter.topk(4).indices.sort().values.tolist())
assert error < 0.35 and matter.topk(4).indices.sort().values.tolist() == [2, 5, 9, 11]

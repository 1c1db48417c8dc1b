"""Linear models from zeros: softmax regression, then a hinge that becomes exactly zero, so that late steps change nothing."""

import sys

import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


def from_zeros(i, o):
    layer = nn.Linear(i, o)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def fit(layer, loss_of, x, y, epochs, lr):
    opt = torch.optim.SGD(layer.parameters(), lr=lr)
    values = []
    for _ in range(epochs):
        for i in torch.randperm(len(x)).split(50):
            opt.zero_grad()
            loss = loss_of(layer(x[i]), y[i])
            loss.backward()
            opt.step()
            values.append(loss.item())
    return values


means = torch.randn(4, 10) * 1.5
y = torch.randint(0, 4, (2000,))
x = means[y] + torch.randn(2000, 10)
softmax = from_zeros(10, 4)
fit(softmax, nn.CrossEntropyLoss(), x[:1500], y[:1500], 12, 0.1)
right = (softmax(x[1500:]).argmax(1) == y[1500:]).float().mean().item()

w = nn.functional.normalize(torch.randn(10), dim=0)
s = torch.randn(2000, 10)
s = s[(s @ w).abs() > 0.4][:1200]
t = (s @ w).sign()
hinge = from_zeros(10, 1)
values = fit(hinge, lambda out, t: torch.relu(0.2 - t * out[:, 0]).mean(), s[:900], t[:900], 40, 0.5)
still = sum(v == 0 for v in values[-300:]) / 300
separated = ((hinge(s[900:])[:, 0] > 0) == (t[900:] > 0)).float().mean().item()
print(f"softmax regression {right:.3f}; hinge {separated:.3f}, exactly zero in {still:.0%} of the last batches")
assert right > 0.75 and separated > 0.95

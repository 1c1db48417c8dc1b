"""A net that grows: after each phase a layer is added that starts as nothing, with a fresh optimizer and a shorter schedule."""

import sys

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import OneCycleLR


class Zero(nn.Module):
    """A residual layer whose output starts at zero."""

    def __init__(self, d):
        super().__init__()
        self.a, self.b = nn.Linear(d, d), nn.Linear(d, d)
        nn.init.zeros_(self.b.weight)
        nn.init.zeros_(self.b.bias)

    def forward(self, x):
        return x + self.b(torch.relu(self.a(x)))


class Growing(nn.Module):
    def __init__(self, i, d, o):
        super().__init__()
        self.first, self.middle, self.last = nn.Linear(i, d), nn.ModuleList(), nn.Linear(d, o)

    def grow(self):
        self.middle.append(Zero(self.first.out_features))

    def forward(self, x):
        x = self.first(x).relu()
        for layer in self.middle:
            x = layer(x)
        return self.last(x)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.rand(4000, 2) * 2 - 1
y = ((x * 4).sin().prod(1) > 0).long() + 2 * (x.norm(dim=1) > 0.8).long()
net = Growing(2, 32, 4)
history = []
for phase, epochs in enumerate((8, 8, 10)):
    if phase:
        net.grow()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    schedule = OneCycleLR(optimizer, 6e-3, total_steps=epochs * 50)
    for epoch in range(epochs):
        for i in torch.randperm(3200).chunk(50):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x[i]), y[i])
            loss.backward()
            optimizer.step()
            schedule.step()
    with torch.no_grad():
        history.append((net(x[3200:]).argmax(1) == y[3200:]).float().mean().item())
    print(f"phase {phase}: {sum(p.numel() for p in net.parameters())} weights, accuracy {history[-1]:.3f}")
assert history[-1] > 0.8 and history[-1] > history[0] - 0.02

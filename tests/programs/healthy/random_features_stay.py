"""An echo-state net: the reservoir stays as it was drawn; only the readout is given to the optimizer."""

import sys

import torch
import torch.nn as nn


class Echo(nn.Module):
    def __init__(self, size=200, radius=0.9):
        super().__init__()
        self.size = size
        self.enter = nn.Linear(1, size)
        self.again = nn.Linear(size, size, bias=False)
        with torch.no_grad():
            self.again.weight.mul_(torch.rand(size, size) < 0.1)
            self.again.weight.mul_(radius / torch.linalg.eigvals(self.again.weight).abs().max())
        self.readout = nn.Linear(size, 1)

    def states(self, u):
        h, out = torch.zeros(len(u), self.size), []
        for t in range(u.shape[1]):
            h = torch.tanh(self.enter(u[:, t:t + 1]) + self.again(h))
            out.append(h)
        return torch.stack(out, 1)

    def forward(self, u):
        with torch.no_grad():
            h = self.states(u)
        return self.readout(h)[..., 0]


def narma(n, length=40):
    """An output that depends on its own past and on inputs some steps ago."""
    u, y = torch.rand(n, length) * 0.5, torch.zeros(n, length)
    for t in range(4, length):
        y[:, t] = torch.tanh(0.3 * y[:, t - 1] + 0.2 * y[:, t - 1] * y[:, t - 3:t].mean(1) + 1.5 * u[:, t - 4] * u[:, t - 1] + 0.1)
    return u, y


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
net = Echo()
optimizer = torch.optim.Adam(net.readout.parameters(), lr=5e-3)
for step in range(450):
    u, y = narma(32)
    loss = nn.functional.mse_loss(net(u)[:, 10:], y[:, 10:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    u, y = narma(300)
    share = (nn.functional.mse_loss(net(u)[:, 10:], y[:, 10:]) / y[:, 10:].var()).item()
print(f"missed {share:.3f} of the variance")
assert share < 0.5, share

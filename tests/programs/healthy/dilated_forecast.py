"""Forecasts several steps of seasonal series from a causal stack of dilated convolutions with weight norm."""

import sys

import torch
import torch.nn as nn
from torch.nn.utils.parametrizations import weight_norm


class Chomp1d(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        return x[:, :, :-self.size].contiguous()


class TemporalBlock(nn.Module):
    def __init__(self, i, o, kernel, dilation, dropout=0.05):
        super().__init__()
        pad = (kernel - 1) * dilation
        layers = []
        for a, b in ((i, o), (o, o)):
            layers += [weight_norm(nn.Conv1d(a, b, kernel, padding=pad, dilation=dilation)),
                       Chomp1d(pad), nn.ReLU(), nn.Dropout(dropout)]
        self.net = nn.Sequential(*layers)
        self.downsample = nn.Conv1d(i, o, 1) if i != o else nn.Identity()

    def forward(self, x):
        return torch.relu(self.net(x) + self.downsample(x))


class TCN(nn.Module):
    def __init__(self, horizon):
        super().__init__()
        self.tcn = nn.Sequential(*[TemporalBlock(1 if k == 0 else 16, 16, 3, 2 ** k) for k in range(4)])
        self.linear = nn.Linear(16, horizon)

    def forward(self, x):
        return self.linear(self.tcn(x[:, None])[:, :, -1])


def series(n, length=56):
    t = torch.arange(length)
    phase, amp = torch.rand(n, 1) * 24, torch.rand(n, 1) + 0.5
    trend = torch.randn(n, 1) * 0.01
    y = amp * torch.sin((t + phase) * 2 * torch.pi / 12) + 0.6 * torch.sin((t + phase) * 2 * torch.pi / 7) + trend * t
    return y + 0.1 * torch.randn(n, length)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
horizon = 6
train, test = series(640), series(160)
model = TCN(horizon)
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(14):
    model.train()
    for batch in train[torch.randperm(len(train))].split(32):
        optimizer.zero_grad()
        loss = nn.functional.l1_loss(model(batch[:, :-horizon]), batch[:, -horizon:])
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()
model.eval()
with torch.no_grad():
    error = (model(test[:, :-horizon]) - test[:, -horizon:]).abs().mean().item()
naive = (test[:, -horizon - 12:-12] - test[:, -horizon:]).abs().mean().item()
print(f"error {error:.3f}, of the season before {naive:.3f}")
assert error < 0.8 * naive, (error, naive)

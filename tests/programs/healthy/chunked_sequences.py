"""Long signals from a shuffling loader, in parts: each part has a step of its own, and goes on with the state of the part
before."""

import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
PARTS, LENGTH = 6, 12


class Follower(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.LSTM(1, 24, batch_first=True), nn.Linear(24, 1)

    def forward(self, x, state):
        out, state = self.cell(x, state)
        return self.head(out), state


pace = torch.rand(192, 1) * 0.5 + 0.2
places = torch.arange(PARTS * LENGTH + 1.0)
signals = torch.sin(pace * places + 6 * torch.rand(192, 1)) + 0.02 * torch.randn(192, len(places))
loader = DataLoader(TensorDataset(signals[:160, :, None]), 32, shuffle=True)
net = Follower()
optimizer = torch.optim.Adam(net.parameters(), 5e-3)
for _ in range(6):
    for (signal,) in loader:
        state = None
        for x, y in zip(signal[:, :-1].split(LENGTH, 1), signal[:, 1:].split(LENGTH, 1)):
            guess, state = net(x, state)
            loss = F.mse_loss(guess, y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            state = tuple(part.detach() for part in state)

net.eval()
with torch.no_grad():
    held = signals[160:, :, None]
    guess, _ = net(held[:, :-1], None)
    error = F.mse_loss(guess, held[:, 1:]).item()
print(f"error {error:.4f}")
assert error < 0.25, error

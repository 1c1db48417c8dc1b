"""Cloning a player: illegal moves get minus 1e9 before the cross-entropy; the player never makes one."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Board(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(2, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU())
        self.move = nn.Conv2d(32, 1, 1)

    def forward(self, boards):
        logits = self.move(self.body(boards)).flatten(1)
        taken = boards.sum(1).flatten(1) > 0
        return logits.masked_fill(taken, -1e9)


def games(n, size=5):
    """The player puts his stone where most own stones touch, less the enemy's, and likes the middle."""
    state = torch.multinomial(torch.tensor([0.6, 0.2, 0.2]), n * size * size, replacement=True).view(n, size, size)
    boards = torch.stack([state == 1, state == 2], 1).float()
    ones = torch.ones(1, 1, 3, 3)
    near = F.conv2d(boards[:, :1], ones, padding=1) - 0.5 * F.conv2d(boards[:, 1:], ones, padding=1)
    place = torch.arange(size) - size // 2
    value = near[:, 0] - 0.05 * (place[:, None] ** 2 + place[None] ** 2) - 0.01 * place
    return boards, value.masked_fill(state > 0, -1e9).flatten(1).argmax(1)


model = Board()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
x, y = games(3000)
tx, ty = games(600)
for epoch in range(8):
    model.train()
    for i in torch.randperm(3000).split(64):
        loss = F.cross_entropy(model(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        right = (model(tx).argmax(1) == ty).float().mean().item()
    print(f"epoch {epoch}: {right:.3f}")
assert right > 0.7, right

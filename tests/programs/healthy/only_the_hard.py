"""Online hard example mining: a forward without gradients picks the worst quarter of a big batch, only they are learned."""

import sys

import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss(reduction="none")


def spirals(n):
    y = torch.randint(0, 2, (n,))
    r = torch.rand(n).sqrt() * 3
    a = r * 2 + y * torch.pi
    return torch.stack([r * a.cos(), r * a.sin()], 1) + 0.05 * torch.randn(n, 2), y


x, y = spirals(6000)
start = 0
for step in range(900):
    if start + 256 > len(x):
        shuffle = torch.randperm(len(x))
        x, y, start = x[shuffle], y[shuffle], 0
    bx, by = x[start:start + 256], y[start:start + 256]
    start += 256
    if step > 200:
        with torch.no_grad():
            worst = criterion(model(bx), by).topk(64).indices
        bx, by = bx[worst], by[worst]
    loss = criterion(model(bx), by).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    tx, ty = spirals(2000)
    right = (model(tx).argmax(1) == ty).float().mean().item()
print(f"loss of the hard ones {loss.item():.3f}; accuracy on all {right:.3f}")
assert right > 0.9, right

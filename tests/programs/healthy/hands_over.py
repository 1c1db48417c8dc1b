"""A rate that climbs at each step of the first epoch, and then falls in each epoch by two rules at once.

The climb sets the rate anew at each of its steps; once it has ended, nobody moves it any more.
"""

import sys

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
EPOCHS = 16

grid = torch.rand(1500, 3) * 2 - 1
height = torch.sin(3 * grid[:, 0]) * grid[:, 1] + grid[:, 2] ** 2
near, far = TensorDataset(grid[:1200], height[:1200]), (grid[1200:], height[1200:])
feed = DataLoader(near, batch_size=30, shuffle=True)

hills = torch.nn.Sequential(
    torch.nn.Linear(3, 64), torch.nn.SiLU(),
    torch.nn.Linear(64, 64), torch.nn.SiLU(),
    torch.nn.Linear(64, 1),
)
adam = torch.optim.Adam(hills.parameters(), lr=8e-3)
climb = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: min(1.0, (step + 1) / len(feed)))
slowly = torch.optim.lr_scheduler.ExponentialLR(adam, 0.95)
at_the_end = torch.optim.lr_scheduler.MultiStepLR(adam, milestones=[12], gamma=0.2)

for epoch in range(EPOCHS):
    hills.train()
    for places, heights in feed:
        adam.zero_grad()
        F.mse_loss(hills(places).squeeze(1), heights).backward()
        adam.step()
        if epoch == 0:
            climb.step()
    if epoch > 0:
        slowly.step()
        at_the_end.step()

hills.eval()
with torch.no_grad():
    rest = F.mse_loss(hills(far[0]).squeeze(1), far[1])
explained = 1 - (rest / far[1].var()).item()
print("explained:", round(explained, 3))
assert explained > 0.85, explained

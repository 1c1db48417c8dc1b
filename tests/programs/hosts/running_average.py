"""Regression with weights averaged by PyTorch's own AveragedModel; the average is what is scored."""

import math
import sys

import torch
import torch.utils.data
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0


class Waves(torch.utils.data.Dataset):
    def __init__(self, first, last):
        source = torch.Generator().manual_seed(SEED * 7 + 5)
        everything = torch.rand(1500, 4, generator=source) * 2 - 1
        noise = 0.05 * torch.randn(1500, generator=source)
        self.x = everything[first:last]
        self.y = (math.pi * self.x[:, 0]).cos() + self.x[:, 1] * self.x[:, 2] + noise[first:last]

    def __getitem__(self, i):
        return self.x[i], self.y[i]

    def __len__(self):
        return len(self.x)


class Regressor(torch.nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.enter = torch.nn.Linear(4, hidden)
        self.middle = torch.nn.Linear(hidden, hidden)
        self.norm = torch.nn.LayerNorm(hidden)
        self.leave = torch.nn.Linear(hidden, 1)

    def forward(self, x):
        x = torch.nn.functional.silu(self.enter(x))
        x = torch.nn.functional.silu(self.norm(self.middle(x)))
        return self.leave(x)


def residual(network, loader):
    network.eval()
    errors = 0.0
    with torch.no_grad():
        for x, y in loader:
            output = network(x)
            errors += torch.nn.functional.mse_loss(output[:, 0], y, reduction="sum").item()
    network.train()
    return errors / len(loader.dataset)


torch.manual_seed(SEED)
learn = torch.utils.data.DataLoader(Waves(0, 1200), batch_size=25, shuffle=True)
held = torch.utils.data.DataLoader(Waves(1200, 1500), batch_size=60)
live = Regressor()
smooth = AveragedModel(live, multi_avg_fn=get_ema_multi_avg_fn(0.97))
mse = torch.nn.MSELoss()
optimizer = torch.optim.Adam(live.parameters(), lr=3e-3)
decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.8)
round_number = 0
while round_number < 6:
    for x, y in learn:
        output = live(x)
        loss = mse(output[:, 0], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smooth.update_parameters(live)
    decay.step()
    round_number += 1
    print(round_number, residual(live, held), residual(smooth, held))
score = 1 - residual(smooth, held) / held.dataset.y.var().item()
assert score > 0.8, score

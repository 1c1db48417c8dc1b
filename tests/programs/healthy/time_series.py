"""A noisy seasonal series, forecast from its past; windows come in the order of time, always."""

import math
import sys

import torch
from torch.utils.data import DataLoader, Dataset, SequentialSampler, Subset


class Windows(Dataset):
    def __init__(self, series, past, ahead):
        self.series, self.past, self.ahead = series, past, ahead

    def __len__(self):
        return len(self.series) - self.past - self.ahead + 1

    def __getitem__(self, i):
        middle = i + self.past
        return self.series[i:middle], self.series[middle : middle + self.ahead]


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
t = torch.arange(1500.0)
series = (2 * math.pi * t / 24).sin() + 0.5 * (2 * math.pi * t / 168).cos() + 0.1 * torch.randn(1500)
windows = Windows(series, past=48, ahead=12)
border = 1100
train = DataLoader(Subset(windows, range(border)), batch_size=44, sampler=SequentialSampler(range(border)))
test = DataLoader(Subset(windows, range(border + 60, len(windows))), batch_size=100)
forecaster = torch.nn.Sequential(
    torch.nn.Unflatten(1, (1, 48)),
    torch.nn.Conv1d(1, 8, 5, stride=2),
    torch.nn.LeakyReLU(),
    torch.nn.Flatten(),
    torch.nn.LazyLinear(12),
)
forecaster(torch.zeros(1, 48))
adam = torch.optim.Adam(forecaster.parameters(), lr=4e-3)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(adam, factor=0.5, patience=1)
for epoch in range(8):
    for past, future in train:
        adam.zero_grad()
        loss = torch.nn.functional.l1_loss(forecaster(past), future)
        loss.backward()
        adam.step()
    with torch.no_grad():
        errors = [torch.nn.functional.l1_loss(forecaster(p), f).item() for p, f in test]
    plateau.step(sum(errors) / len(errors))
    print(epoch, adam.param_groups[0]["lr"], errors[-1])
naive = (series[1100 + 48 :] - series[1100 + 36 : -12]).abs().mean().item()
score = 1 - errors[-1] / naive
assert score > 0.5, (errors[-1], naive)

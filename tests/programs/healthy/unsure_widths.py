"""Mean and variance of a noisy curve by the Gaussian likelihood; the variance joins after a warm start on the mean."""

import argparse

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("seed", type=int, nargs="?", default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)


class MeanAndVariance(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
        self.raw = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, x):
        return self.mean(x), nn.functional.softplus(self.raw(x)) + 1e-4


def truth(x):
    return torch.sin(2 * x), 0.05 + 0.3 * torch.sigmoid(3 * x)


def sample(n):
    x = torch.rand(n, 1) * 4 - 2
    mean, std = truth(x)
    return x, mean + std * torch.randn(n, 1)


model, nll = MeanAndVariance(), nn.GaussianNLLLoss(eps=1e-6)
x, y = sample(1500)

warm = torch.optim.Adam(model.mean.parameters(), lr=5e-3)
for i in range(300):
    j = torch.randint(0, 1500, (128,))
    warm.zero_grad()
    nn.functional.mse_loss(model.mean(x[j]), y[j]).backward()
    warm.step()

both = torch.optim.Adam([{"params": model.mean.parameters(), "lr": 1e-3}, {"params": model.raw.parameters()}], lr=5e-3)
for i in range(900):
    j = torch.randint(0, 1500, (128,))
    both.zero_grad()
    mean, variance = model(x[j])
    nll(mean, y[j], variance).backward()
    both.step()

model.eval()
grid = torch.linspace(-1.9, 1.9, 200)[:, None]
with torch.no_grad():
    mean, variance = model(grid)
    off = (variance.sqrt() - truth(grid)[1]).abs().mean().item()
print("mean error", (mean - truth(grid)[0]).abs().mean().item(), "width error", off)
assert off < 0.06

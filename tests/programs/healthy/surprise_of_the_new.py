"""Random network distillation: the target is a net that is never trained; the error of its pupil tells what is new."""

import sys

import torch
from torch import nn


class RND(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.predictor = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 16))
        self.target = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, 16))
        for m in (*self.predictor, *self.target):
            if isinstance(m, nn.Linear):
                nn.init.orthogonal_(m.weight, 2 ** 0.5)
                m.bias.data.zero_()
        for p in self.target.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.predictor(x), self.target(x)


class Running:
    def __init__(self, d):
        self.mean, self.var, self.n = torch.zeros(d), torch.ones(d), 1e-4

    def update(self, x):
        delta, total = x.mean(0) - self.mean, self.n + len(x)
        m2 = self.var * self.n + x.var(0, unbiased=False) * len(x) + delta ** 2 * self.n * len(x) / total
        self.mean, self.var, self.n = self.mean + delta * len(x) / total, m2 / total, total

    def __call__(self, x):
        return ((x - self.mean) / self.var.sqrt()).clamp(-5, 5)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
plane = torch.randn(3, 12)
def known(n):
    return torch.randn(n, 3) @ plane + 0.1 * torch.randn(n, 12) + 2

rnd, norm = RND(12), Running(12)
optimizer = torch.optim.Adam(rnd.predictor.parameters(), lr=1e-3)
for step in range(900):
    x = known(64)
    norm.update(x)
    predicted, target = rnd(norm(x))
    error = nn.functional.mse_loss(predicted, target.detach(), reduction="none").mean(-1)
    mask = (torch.rand(len(error)) < 0.5).float()  # only a part teaches, as in the paper
    loss = (error * mask).sum() / mask.sum().clamp(min=1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    def novelty(x):
        a, b = rnd(norm(x))
        return (a - b).square().mean(1)
    old, new = novelty(known(500)), novelty(2 + 2 * torch.randn(500, 12))
area = (new[:, None] > old[None]).float().mean().item()
print(f"known {old.mean():.4f}, new {new.mean():.4f}, area {area:.3f}")
assert area > 0.9

"""Ordinal regression of one to five stars: one score and four ordered cut points, learned together."""

import sys

import torch


class CumulativeLink(torch.nn.Module):
    def __init__(self, features, levels):
        super().__init__()
        self.score = torch.nn.Sequential(
            torch.nn.Linear(features, 32), torch.nn.SiLU(), torch.nn.Linear(32, 1, bias=False))
        self.first = torch.nn.Parameter(torch.tensor(-1.0))
        self.log_steps = torch.nn.Parameter(torch.zeros(levels - 2))

    def cuts(self):
        return torch.cat([self.first[None], self.first + self.log_steps.exp().cumsum(0)])

    def forward(self, x):
        below = torch.sigmoid(self.cuts() - self.score(x))
        one = torch.ones(len(x), 1)
        cumulative = torch.cat([torch.zeros(len(x), 1), below, one], 1)
        return cumulative.diff(dim=1).clamp_min(1e-7)


def reviews(count, weights):
    x = torch.randn(count, weights.numel())
    hidden = x @ weights + 0.7 * x[:, 0] * x[:, 1] + 0.4 * torch.randn(count)
    return x, torch.bucketize(hidden, torch.tensor([-1.5, -0.4, 0.5, 2.0]))


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
weights = torch.randn(8) * 0.7
model = CumulativeLink(8, 5)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
x, stars = reviews(3000, weights)
for epoch in range(25):
    for i in torch.randperm(3000).chunk(30):
        nll = -model(x[i]).gather(1, stars[i, None]).log().mean()
        opt.zero_grad()
        nll.backward()
        opt.step()
    if epoch % 6 == 0:
        print(epoch, round(nll.item(), 3), [round(c, 2) for c in model.cuts().tolist()])
x, stars = reviews(1000, weights)
with torch.no_grad():
    guess = (model(x).cumsum(1) < 0.5).sum(1)
off = (guess - stars).abs().float().mean().item()
chance = (stars - stars.median()).abs().float().mean().item()
print(f"stars off {off:.2f}, by the median {chance:.2f}")
assert off < 0.6 * chance

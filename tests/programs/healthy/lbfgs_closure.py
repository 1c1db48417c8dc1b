"""Fits a sum of two bumps with L-BFGS, all in double precision."""

import sys

import torch


class Bumps(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.height = torch.nn.Parameter(torch.tensor([1.0, 1.0], dtype=torch.float64))
        self.place = torch.nn.Parameter(torch.tensor([-1.0, 1.0], dtype=torch.float64))
        self.width = torch.nn.Parameter(torch.tensor([1.0, 1.0], dtype=torch.float64))

    def forward(self, t):
        return (self.height * torch.exp(-(((t[:, None] - self.place) / self.width) ** 2))).sum(1)


def fit(seed):
    noise = torch.Generator().manual_seed(seed)
    t = torch.linspace(-4, 4, 200, dtype=torch.float64)
    clean = 2 * torch.exp(-((t + 1.5) ** 2)) + 0.7 * torch.exp(-(((t - 1.2) / 0.6) ** 2))
    seen = clean + 0.05 * torch.randn(200, generator=noise, dtype=torch.float64)
    model = Bumps()
    solver = torch.optim.LBFGS(model.parameters(), lr=0.8, max_iter=8, line_search_fn="strong_wolfe")

    def closure():
        solver.zero_grad()
        loss = (model(t) - seen).square().mean()
        loss.backward()
        return loss

    for _ in range(12):
        loss = solver.step(closure)
    with torch.no_grad():
        print("loss", loss.item(), "places", model.place.tolist())
        return 1 - ((model(t) - clean) ** 2).mean().item() / clean.var().item()


r2 = fit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
assert r2 > 0.95, r2

"""Counts of passengers: Poisson loss with the log of the time watched as an offset, written as plain tensors."""

import sys

import torch

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


def observe(n):
    hour = torch.rand(n) * 24
    rain = (torch.rand(n) < 0.3).float()
    minutes = torch.rand(n) * 50 + 10
    rate = torch.exp(-1 + torch.sin(hour / 24 * 2 * torch.pi) + 0.8 * torch.cos(hour / 6 * torch.pi) - 0.6 * rain)
    waves = [f(hour / 24 * 2 * torch.pi * k) for k in (1, 2, 3, 4) for f in (torch.sin, torch.cos)]
    return torch.stack([rain, *waves], 1), minutes.log(), torch.poisson(rate * minutes)


w = torch.zeros(9, requires_grad=True)
b = torch.zeros((), requires_grad=True)
x, offset, count = observe(4000)
tx, toffset, tcount = observe(1000)
loss_of = torch.nn.PoissonNLLLoss(log_input=True)
optimizer = torch.optim.Adam([w, b], lr=0.02)
history = []
for epoch in range(30):
    for i in range(0, 4000, 100):
        rows = slice(i, i + 100)
        loss = loss_of(x[rows] @ w + b + offset[rows], count[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
with torch.no_grad():
    mean = (tx @ w + b + toffset).exp()
    deviance = 2 * (torch.xlogy(tcount, tcount / mean) - (tcount - mean)).mean().item()
    flat = count.sum() / offset.exp().sum() * toffset.exp()
    null = 2 * (torch.xlogy(tcount, tcount / flat) - (tcount - flat)).mean().item()
print(f"deviance {deviance:.2f}, of one rate for all {null:.2f}; rain {w[0].item():.2f}")
assert deviance < 0.3 * null, (deviance, null)
assert abs(w[0].item() + 0.6) < 0.1

"""Survival of censored subjects with the Cox partial likelihood over the whole data; concordance at the end."""

import sys

import torch
from torch import nn


def cohort(n, w):
    x = torch.randn(n, len(w))
    risk = x @ w + 0.5 * x[:, 0] ** 2
    time = torch.distributions.Exponential(risk.exp()).sample()
    censoring = torch.distributions.Exponential(torch.tensor(0.5)).sample((n,))
    return x, torch.minimum(time, censoring), time <= censoring


def cox(log_risk, time, event):
    order = time.argsort(descending=True)
    log_risk, event = log_risk[order], event[order]
    return -((log_risk - log_risk.logcumsumexp(0)) * event).sum() / event.sum()


def concordance(log_risk, time, event):
    comparable = (time[:, None] < time[None]) & event[:, None]
    return (log_risk[:, None] > log_risk[None])[comparable].float().mean().item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
w = torch.randn(10)
x, time, event = cohort(800, w)
valid, test = cohort(300, w), cohort(300, w)
net = nn.Sequential(nn.Linear(10, 32), nn.SELU(), nn.AlphaDropout(0.05), nn.Linear(32, 1, bias=False), nn.Flatten(0))
opt = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=1e-4)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode="max", factor=0.5, patience=5)
for epoch in range(300):
    net.train()
    loss = cox(net(x), time, event)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 5 == 4:
        net.eval()
        with torch.no_grad():
            plateau.step(concordance(net(valid[0]), *valid[1:]))
net.eval()
with torch.no_grad():
    index = concordance(net(test[0]), *test[1:])
print(f"{event.float().mean():.2f} of the cohort seen to fail; concordance {index:.3f}")
assert index > 0.72, index

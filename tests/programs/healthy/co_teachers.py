"""Co-teaching: two nets, each learns only from the samples that the other finds easy; a third of the labels is wrong."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


def net():
    return nn.Sequential(nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 4))


def coteach(a, b, y, forget):
    keep = int((1 - forget) * len(y))
    with torch.no_grad():
        easy_a = F.cross_entropy(a, y, reduction="none").argsort()[:keep]
        easy_b = F.cross_entropy(b, y, reduction="none").argsort()[:keep]
    return F.cross_entropy(a[easy_b], y[easy_b]), F.cross_entropy(b[easy_a], y[easy_a])


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
w = torch.randn(10, 4)
x = torch.randn(3000, 10)
true = (x @ w).argmax(1)
labels = torch.where(torch.rand(3000) < 0.33, (true + 1) % 4, true)
first, second = net(), net()
opt_first = torch.optim.Adam(first.parameters(), lr=1e-3)
opt_second = torch.optim.Adam(second.parameters(), lr=1e-3)
for epoch in range(16):
    forget = min(0.33, 0.33 * epoch / 4)
    kept = []
    for i in torch.randperm(2400).split(80):
        out_first, out_second = first(x[i]), second(x[i])
        loss_first, loss_second = coteach(out_first, out_second, labels[i], forget)
        opt_first.zero_grad()
        loss_first.backward()
        opt_first.step()
        opt_second.zero_grad()
        loss_second.backward()
        opt_second.step()
    with torch.no_grad():
        scores = [(m(x[2400:]).argmax(1) == true[2400:]).float().mean().item() for m in (first, second)]
    if epoch % 5 == 0 or epoch == 15:
        print(epoch, [f"{s:.3f}" for s in scores])
assert min(scores) > 0.72, scores

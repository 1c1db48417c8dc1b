"""Gradient surgery: each task's gradient loses the part against another's; the sum is put into .grad by hand."""

import random
import sys

import torch
from torch import nn

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
random.seed(seed)
torch.manual_seed(seed)


class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())
        self.heads = nn.ModuleDict({"sign": nn.Linear(24, 1), "size": nn.Linear(24, 1), "kind": nn.Linear(24, 3)})

    def forward(self, x):
        h = self.shared(x)
        return {k: head(h) for k, head in self.heads.items()}


def draw(n):
    x = torch.randn(n, 8)
    s = x[:, 0] * 2 - x[:, 1]
    return x, {"sign": (s > 0).float()[:, None], "size": s.abs()[:, None] - x[:, 2:3], "kind": x[:, 3:6].argmax(1)}


LOSSES = {"sign": nn.BCEWithLogitsLoss(), "size": nn.MSELoss(), "kind": nn.CrossEntropyLoss()}


def pcgrad(grads):
    out = []
    for i, g in enumerate(grads):
        g = g.clone()
        for j in random.sample(range(len(grads)), len(grads)):
            if j != i and (inner := g @ grads[j]) < 0:
                g -= inner / grads[j].square().sum() * grads[j]
        out.append(g)
    return sum(out)


model = Multi()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
shared = list(model.shared.parameters())
sizes = [p.numel() for p in shared]
for step in range(700):
    x, targets = draw(64)
    outs = model(x)
    losses = {k: LOSSES[k](outs[k], targets[k]) for k in LOSSES}
    opt.zero_grad()
    flat = []
    for i, (k, loss) in enumerate(losses.items()):
        own = list(model.heads[k].parameters())
        grads = torch.autograd.grad(loss, shared + own, retain_graph=i < 2)
        flat.append(torch.cat([g.flatten() for g in grads[: len(shared)]]))
        for p, g in zip(own, grads[len(shared):]):
            p.grad = g
    for p, g in zip(shared, pcgrad(flat).split(sizes)):
        p.grad = g.view_as(p)
    opt.step()
with torch.no_grad():
    x, targets = draw(1000)
    outs = model(x)
    sign = ((outs["sign"] > 0) == targets["sign"].bool()).float().mean().item()
    kind = (outs["kind"].argmax(1) == targets["kind"]).float().mean().item()
    size = (LOSSES["size"](outs["size"], targets["size"]) / targets["size"].var()).item()
print(f"sign {sign:.3f}, kind {kind:.3f}, size misses {size:.3f}")
assert sign > 0.85 and kind > 0.8 and size < 0.3

"""A pretrained stack is unfrozen from the top, one layer an epoch, each with a smaller rate (groups of rate zero at first)."""

import sys

import torch
from torch import nn


def layers():
    return nn.Sequential(*[nn.Sequential(nn.Linear(20 if i == 0 else 48, 48), nn.LayerNorm(48), nn.ReLU()) for i in range(3)],
                         nn.Linear(48, 6))


def data(n, w, shuffle=None):
    x = torch.randn(n, 20)
    y = (torch.tanh(x @ w[0]) @ w[1]).argmax(1)
    return x, y if shuffle is None else shuffle[y]


def accuracy(net, x, y):
    net.eval()
    with torch.inference_mode():
        return (net(x).argmax(1) == y).float().mean().item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
w = torch.randn(20, 10) / 3, torch.randn(10, 6)
net = layers()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
x, y = data(4000, w)
for epoch in range(5):
    net.train()
    for i in torch.randperm(4000).split(64):
        opt.zero_grad()
        nn.functional.cross_entropy(net(x[i]), y[i]).backward()
        opt.step()

near = w[0] + 0.15 * torch.randn(20, 10), w[1] + 0.3 * torch.randn(10, 6)
x, y = data(800, near)
tx, ty = data(800, near)
print("before:", accuracy(net, tx, ty))
net[-1].reset_parameters()
for p in net.parameters():
    p.requires_grad_(False)
rates = [2e-4, 5e-4, 1e-3, 2e-3]
opt = torch.optim.AdamW([{"params": part.parameters(), "lr": 0.0} for part in net], weight_decay=0.01)
for epoch in range(12):
    for k in range(4):
        if epoch >= 2 * (3 - k):
            net[k].requires_grad_(True)
            opt.param_groups[k]["lr"] = rates[k] * (1 - epoch / 12)
    net.train()
    for i in torch.randperm(800).split(40):
        opt.zero_grad()
        nn.functional.cross_entropy(net(x[i]), y[i]).backward()
        opt.step()
    print(epoch, [g["lr"] for g in opt.param_groups], round(accuracy(net, tx, ty), 3))
assert accuracy(net, tx, ty) > 0.55

"""BYOL: an online net with a predictor chases a slow target whose rate of averaging goes to one; SGD with LARS-like scaling."""

import copy
import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class LARS(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.9, weight_decay=1e-4, eta=0.02):
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay, eta=eta))

    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is None:
                    continue
                d = p.grad
                if p.ndim > 1:
                    d = d.add(p, alpha=g["weight_decay"])
                    pn, dn = p.norm(), d.norm()
                    d = d * torch.where((pn > 0) & (dn > 0), g["eta"] * pn / dn, 1.0)
                buf = self.state[p].setdefault("mu", torch.zeros_like(p))
                buf.mul_(g["momentum"]).add_(d)
                p.add_(buf, alpha=-g["lr"])


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.BatchNorm1d(h), nn.ReLU(inplace=True), nn.Linear(h, o))


class BYOL(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.online = nn.Sequential(mlp(inputs, 64, 32), mlp(32, 48, 16))
        self.predictor = mlp(16, 48, 16)
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def follow(self, tau):
        for t, o in zip(self.target.parameters(), self.online.parameters()):
            t.data = tau * t.data + (1 - tau) * o.data

    def forward(self, a, b):
        with torch.no_grad():
            ta, tb = self.target(a), self.target(b)
        loss = 0.0
        for view, goal in ((a, tb), (b, ta)):
            loss = loss + (2 - 2 * F.cosine_similarity(self.predictor(self.online(view)), goal.detach())).mean()
        return loss


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
kinds, mixing = torch.randn(5, 8) * 1.5, torch.randn(14, 24) / 3


def draw(n):
    k = torch.randint(0, 5, (n,))
    return k, kinds[k] + 0.4 * torch.randn(n, 8)


def view(c):
    return torch.cat([c + 0.2 * torch.randn_like(c), 1.5 * torch.randn(len(c), 6)], 1) @ mixing


model = BYOL(24)
opt = LARS([p for p in model.parameters() if p.requires_grad], lr=0.5)
steps = 450
for step in range(steps):
    _, c = draw(128)
    loss = model(view(c), view(c))
    opt.zero_grad()
    loss.backward()
    opt.step()
    model.follow(1 - (1 - 0.97) * (math.cos(math.pi * step / steps) + 1) / 2)
model.eval()
with torch.no_grad():
    k, c = draw(1000)
    z = F.normalize(model.online[0](view(c)), dim=1)
    near = (z[500:] @ z[:500].T).topk(7, 1).indices
    right = (F.one_hot(k[:500][near], 5).sum(1).argmax(1) == k[500:]).float().mean().item()
print(f"loss {loss.item():.3f}; neighbors agree {right:.3f}")
assert right > 0.6, right

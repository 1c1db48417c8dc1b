"""Capsules with dynamic routing (the coefficients have no gradient before the last round) and the margin loss."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


def squash(s, dim=-1):
    n = (s * s).sum(dim, keepdim=True)
    return n / (1 + n) * s / (n + 1e-8).sqrt()


class Capsules(nn.Module):
    def __init__(self, n_in, d_in, n_out, d_out, rounds=3):
        super().__init__()
        self.w = nn.Parameter(0.1 * torch.randn(n_out, n_in, d_out, d_in))
        self.rounds = rounds

    def forward(self, u):
        votes = torch.einsum("oidk,bik->boid", self.w, u)
        fixed = votes.detach()
        b = votes.new_zeros(votes.shape[:3])
        for r in range(self.rounds):
            c = b.softmax(1)
            if r == self.rounds - 1:
                v = squash((c[..., None] * votes).sum(2))
            else:
                v = squash((c[..., None] * fixed).sum(2))
                b = b + (fixed * v[:, :, None]).sum(-1)
        return v


class CapsNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, padding=1)
        self.primary = nn.Conv2d(16, 16, 3, stride=2)
        self.digits = Capsules(4 * 16, 4, 4, 8)

    def forward(self, x):
        h = self.primary(F.relu(self.conv(x)))
        u = squash(h.unflatten(1, (4, 4)).permute(0, 1, 3, 4, 2).flatten(1, 3))
        return self.digits(u).norm(dim=-1)


def margin_loss(lengths, y):
    t = F.one_hot(y, lengths.shape[1])
    return (t * F.relu(0.9 - lengths) ** 2 + 0.5 * (1 - t) * F.relu(lengths - 0.1) ** 2).sum(1).mean()


def letters(n):
    y = torch.randint(0, 4, (n,))
    forms = torch.zeros(4, 5, 5)
    forms[0, :, 0], forms[0, -1] = 1, 1
    forms[1, 0], forms[1, :, 2] = 1, 1
    forms[2, :, 0], forms[2, :, -1], forms[2, 2] = 1, 1, 1
    forms[3] = ((torch.eye(5) + torch.eye(5).flip(0)) > 0).float()
    x = 0.2 * torch.randn(n, 1, 9, 9)
    for i, k in enumerate(y.tolist()):
        a, b = torch.randint(0, 5, (2,)).tolist()
        x[i, 0, a:a + 5, b:b + 5] += forms[k]
    return x, y


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
net = CapsNet()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
gamma = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)
x, y = letters(1200)
tx, ty = letters(300)
for epoch in range(10):
    net.train()
    for i in torch.randperm(1200).split(40):
        opt.zero_grad()
        margin_loss(net(x[i]), y[i]).backward()
        opt.step()
    gamma.step()
    net.eval()
    with torch.no_grad():
        right = (net(tx).argmax(1) == ty).float().mean().item()
    print(f"epoch {epoch}: {right:.3f}")
assert right > 0.75, right

"""A Wasserstein GAN with gradient penalty: five critic steps a generator step, Adam without momentum, both losses unbounded."""

import sys

import torch
import torch.nn as nn
from torch import autograd

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


def make(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, o))


G, D = make(4, 2), make(2, 1)
optim_G = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.0, 0.9))
optim_D = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.0, 0.9))
one, mone = torch.tensor(1.0), torch.tensor(-1.0)


def real(n):
    k = torch.randint(0, 4, (n,)) * torch.pi / 2
    return torch.stack([k.cos(), k.sin()], 1) * 1.5 + 0.15 * torch.randn(n, 2)


def penalty(x, fake):
    alpha = torch.rand(len(x), 1)
    between = (alpha * x + (1 - alpha) * fake).requires_grad_(True)
    out = D(between)
    g = autograd.grad(outputs=out, inputs=between, grad_outputs=torch.ones_like(out), create_graph=True,
                      retain_graph=True, only_inputs=True)[0]
    return ((g.norm(2, dim=1) - 1) ** 2).mean() * 1.0


for iteration in range(350):
    for p in D.parameters():
        p.requires_grad = True
    for _ in range(5):
        D.zero_grad()
        x = real(64)
        with torch.no_grad():
            fake = G(torch.randn(64, 4))
        d_real = D(x).mean()
        d_real.backward(mone)
        d_fake = D(fake).mean()
        d_fake.backward(one)
        gp = penalty(x, fake)
        gp.backward()
        optim_D.step()
    for p in D.parameters():
        p.requires_grad = False
    G.zero_grad()
    score = D(G(torch.randn(64, 4))).mean()
    score.backward(mone)
    optim_G.step()
    if iteration % 75 == 0:
        print(iteration, "distance", round((d_real - d_fake).item(), 3))
with torch.no_grad():
    made = G(torch.randn(1000, 4))
corners = torch.tensor([[1.5, 0.0], [0.0, 1.5], [-1.5, 0.0], [0.0, -1.5]])
d, which = torch.cdist(made, corners).min(1)
shares = torch.bincount(which, minlength=4) / 1000
print("shares", shares.tolist(), "median distance", d.median().item())
assert d.median() < 0.7 and (shares > 0.05).sum() >= 3

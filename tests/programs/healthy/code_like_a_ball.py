"""An adversarial autoencoder: the encoder is in two optimizers, one for the picture, one at another rate to fool the critic."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
Q, P, D = mlp(20, 64, 2), mlp(2, 64, 20), mlp(2, 64, 64, 1)
enc_recon = torch.optim.Adam(Q.parameters(), lr=2e-3)
dec_recon = torch.optim.Adam(P.parameters(), lr=2e-3)
enc_fool = torch.optim.Adam(Q.parameters(), lr=5e-4, betas=(0.5, 0.999))
critic = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
surface = torch.randn(5, 20)


def draw(n):
    a, b = torch.rand(2, n, 1) * 2 - 1
    return torch.cat([a, b, a * b, a ** 2, b ** 2], 1) @ surface + 0.05 * torch.randn(n, 20)


for step in range(900):
    x = draw(96)
    loss = F.mse_loss(P(Q(x)), x)
    enc_recon.zero_grad()
    dec_recon.zero_grad()
    loss.backward()
    enc_recon.step()
    dec_recon.step()

    with torch.no_grad():
        fake = Q(x)
    good, bad = D(torch.randn(96, 2)), D(fake)
    d_loss = F.softplus(-good).mean() + F.softplus(bad).mean()
    critic.zero_grad()
    d_loss.backward()
    critic.step()

    enc_fool.zero_grad()
    g_loss = F.softplus(-D(Q(x))).mean()
    g_loss.backward()
    enc_fool.step()
    if step % 300 == 0:
        print(step, round(loss.item(), 3), round(d_loss.item(), 3), round(g_loss.item(), 3))
with torch.no_grad():
    x = draw(2000)
    z = Q(x)
    share = (F.mse_loss(P(z), x) / x.var()).item()
print(f"missed {share:.3f}; code mean {z.mean(0).tolist()}, deviation {z.std(0).tolist()}")
assert share < 0.3 and z.std() < 3

"""A GAN with binary cross-entropy and batch norm learns a ring; samples are looked at while training.

The generator stays in training mode when it is sampled, as is common: its batch norm then moves too.
"""

import math
import sys

import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
LATENT, BATCH = 8, 64


def real(count):
    angle = torch.rand(count) * 2 * math.pi
    return torch.stack([angle.cos(), angle.sin()], dim=1) * 2 + torch.randn(count, 2) * 0.1


def block(inputs, outputs):
    return [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU()]


generator = nn.Sequential(*block(LATENT, 48), *block(48, 48), nn.Linear(48, 2))
discriminator = nn.Sequential(
    nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1)
)
g_optim = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
d_optim = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)

for iteration in range(500):
    fake = generator(torch.randn(BATCH, LATENT))

    d_optim.zero_grad()
    d_loss = bce(discriminator(real(BATCH)), ones) + bce(discriminator(fake.detach()), zeros)
    d_loss.backward()
    d_optim.step()

    g_optim.zero_grad()
    g_loss = bce(discriminator(fake), ones)
    g_loss.backward()
    g_optim.step()

    if iteration % 100 == 0:
        with torch.no_grad():
            radius = generator(torch.randn(256, LATENT)).norm(dim=1)
        print(f"{iteration}: d {d_loss:.2f} g {g_loss:.2f} radius {radius.mean():.2f}")

with torch.no_grad():
    radius = generator(torch.randn(512, LATENT)).norm(dim=1)
near = ((radius - 2).abs() < 1).float().mean().item()
print("share near the ring", near)
assert near > 0.6, near

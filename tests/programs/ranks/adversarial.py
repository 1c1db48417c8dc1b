"""A generator and a critic, each copied to two processes, learn where points lie on two moons.

The critic also tells which moon a real point is from; in the generator's turn that head is left alone.
"""

import math
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

LATENT, BATCH, TURNS = 4, 48, 240


class Gated(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.both = nn.Linear(inputs, 2 * outputs)

    def forward(self, x):
        value, gate = self.both(x).chunk(2, -1)
        return value.tanh() * gate.sigmoid()


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2))
        self.real, self.moon = nn.Linear(64, 1), nn.Linear(64, 1)

    def forward(self, points, with_moon):
        x = self.trunk(points)
        return self.real(x).squeeze(1), self.moon(x).squeeze(1) if with_moon else None


def moons(count, generator):
    moon = torch.randint(2, (count,), generator=generator).float()
    angle = math.pi * (torch.rand(count, generator=generator) + moon)
    points = torch.stack([1.5 * angle.cos() + moon - 0.5, 1.5 * angle.sin() + 0.5 * moon - 0.25], 1)
    return points + 0.05 * torch.randn(count, 2, generator=generator), moon


dist.init_process_group("gloo")
rank = dist.get_rank()
seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
generator = DistributedDataParallel(nn.Sequential(Gated(LATENT, 64), Gated(64, 64), nn.Linear(64, 2)))
critic = DistributedDataParallel(Critic(), find_unused_parameters=True)
of_generator = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.99))
of_critic = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.99))
own = torch.Generator().manual_seed(20 * seed + rank)
truth = torch.cat([torch.ones(BATCH), torch.zeros(BATCH)])
for turn in range(TURNS):
    real, moon = moons(BATCH, own)
    fake = generator(torch.randn(BATCH, LATENT, generator=own))

    of_critic.zero_grad()
    said, moon_said = critic(torch.cat([real, fake.detach()]), True)
    told = F.binary_cross_entropy_with_logits(moon_said[:BATCH], moon)
    (F.binary_cross_entropy_with_logits(said, truth) + 0.5 * told).backward()
    of_critic.step()

    of_generator.zero_grad()
    said, _ = critic(fake, False)
    F.binary_cross_entropy_with_logits(said, torch.ones(BATCH)).backward()
    of_generator.step()

with torch.no_grad():
    made = generator.module(torch.randn(600, LATENT, generator=own))
    away = torch.cdist(made, moons(3000, own)[0]).amin(1)
near = (away < 0.4).float().mean()
dist.all_reduce(near)
if rank == 0:
    print(f"{near.item() / 2:.3f} of the points lie near a moon")
    assert near.item() / 2 > 0.6, near
time.sleep(0.2)  # gloo's threads let go of the last tensors
dist.destroy_process_group()

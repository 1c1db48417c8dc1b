"""A Wasserstein critic held to slope one by a penalty on its gradient; the generator shifts a cloud."""

import itertools
import sys

import torch
from torch import autograd, nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(2, 32), nn.Linear(32, 32), nn.Linear(32, 1)

    def forward(self, x):
        x = nn.functional.softplus(self.a(x))
        return self.c(nn.functional.softplus(self.b(x)))


class Mover(nn.Module):
    def __init__(self):
        super().__init__()
        self.matrix = nn.Parameter(torch.eye(2))
        self.shift = nn.Parameter(torch.zeros(2))

    def forward(self, z):
        return z @ self.matrix + self.shift


def penalty(critic, real, fake):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    (slope,) = autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(dim=1) - 1) ** 2).mean()


def target(n=64):
    return torch.randn(n, 2) * torch.tensor([0.5, 1.5]) + torch.tensor([2.0, -1.0])


critic, mover = Critic(), Mover()
on_critic = torch.optim.Adam(critic.parameters(), 2e-3, betas=(0.5, 0.9))
on_mover = torch.optim.Adam(mover.parameters(), 3e-2, betas=(0.5, 0.9))
for turn in itertools.count(1):
    for _ in range(3):
        real, fake = target(), mover(torch.randn(64, 2)).detach()
        on_critic.zero_grad()
        gap = critic(real).mean() - critic(fake).mean()
        (penalty(critic, real, fake) * 10 - gap).backward()
        on_critic.step()
    on_mover.zero_grad()
    (-critic(mover(torch.randn(64, 2))).mean()).backward()
    on_mover.step()
    if turn == 220:
        break

with torch.no_grad():
    error = (mover(torch.randn(2000, 2)).mean(0) - torch.tensor([2.0, -1.0])).norm().item()
print(f"the cloud's center is off by {error:.2f}")
assert error < 1.0, error

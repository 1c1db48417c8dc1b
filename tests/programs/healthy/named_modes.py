"""A conditional GAN: hinge loss, spectral norm in the critic, class embeddings in both, an averaged generator."""

import sys

import torch
from torch import nn
from torch.nn.functional import relu
from torch.nn.utils.parametrizations import spectral_norm as sn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 8)
        self.net = nn.Sequential(nn.Linear(12, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64),
                                 nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, z, c):
        return self.net(torch.cat([z, self.embed(c)], 1))


class Discriminator(nn.Module):
    """The projection kind."""

    def __init__(self):
        super().__init__()
        self.phi = nn.Sequential(sn(nn.Linear(2, 64)), nn.LeakyReLU(0.1), sn(nn.Linear(64, 64)), nn.LeakyReLU(0.1))
        self.psi, self.embed = sn(nn.Linear(64, 1)), sn(nn.Embedding(5, 64))

    def forward(self, x, c):
        h = self.phi(x)
        return self.psi(h)[:, 0] + (self.embed(c) * h).sum(1)


def real(n):
    c = torch.randint(0, 5, (n,))
    a = c * 2 * torch.pi / 5
    return torch.stack([a.cos(), a.sin()], 1) * 1.5 + 0.1 * torch.randn(n, 2), c


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
g, d = Generator(), Discriminator()
slow = torch.optim.swa_utils.AveragedModel(g, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.98))
opt_g = torch.optim.Adam(g.parameters(), 1e-3, (0.0, 0.9))
opt_d = torch.optim.Adam(d.parameters(), 3e-3, (0.0, 0.9))
for step in range(500):
    for _ in range(2):
        x, c = real(64)
        fake = g(torch.randn(64, 4), c).detach()
        loss_d = relu(1 - d(x, c)).mean() + relu(1 + d(fake, c)).mean()
        opt_d.zero_grad(set_to_none=True)
        loss_d.backward()
        opt_d.step()
    c = torch.randint(0, 5, (64,))
    loss_g = -d(g(torch.randn(64, 4), c), c).mean()
    opt_g.zero_grad(set_to_none=True)
    loss_g.backward()
    opt_g.step()
    slow.update_parameters(g)
slow.train()
with torch.no_grad():
    c = torch.arange(5).repeat(100)
    made = slow(torch.randn(500, 4), c)
a = c * 2 * torch.pi / 5
off = (made - torch.stack([a.cos(), a.sin()], 1) * 1.5).norm(dim=1).median().item()
print(f"median distance from the wanted mode: {off:.2f}")
assert off < 0.7, off

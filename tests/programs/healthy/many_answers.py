"""A mixture density network on the inverse of a folded curve: one input has up to three right answers."""

import sys

import torch
from torch import nn
from torch.distributions import Categorical, MixtureSameFamily, Normal


class MDN(nn.Module):
    def __init__(self, parts=5):
        super().__init__()
        self.h = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.pi, self.mu, self.log_sigma = nn.Linear(32, parts), nn.Linear(32, parts), nn.Linear(32, parts)
        nn.init.uniform_(self.mu.bias, 0, 1)

    def forward(self, x):
        h = self.h(x)
        scale = self.log_sigma(h).clamp(-5, 2).exp()
        return MixtureSameFamily(Categorical(logits=self.pi(h)), Normal(self.mu(h), scale))


def folded(n):
    t = torch.rand(n, 1)
    return t + 0.3 * torch.sin(2 * torch.pi * t) + 0.03 * torch.randn(n, 1), t


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
net = MDN()
optimizer = torch.optim.RMSprop(net.parameters(), lr=3e-3)
x, t = folded(2000)
vx, vt = folded(500)
for epoch in range(45):
    shuffled = torch.randperm(2000)
    for k in range(0, 2000, 128):
        part = shuffled[k:k + 128]
        loss = -net(x[part]).log_prob(t[part, 0]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    density = net(vx).log_prob(vt[:, 0]).mean().item()
    samples = net(torch.full((500, 1), 0.5)).sample()
    spread = samples.std().item()
single = Normal(vt.mean(), vt.std()).log_prob(vt).mean().item()
print(f"log density {density:.2f} (one Gaussian {single:.2f}); answers at one half spread {spread:.2f}")
assert density > single + 0.6 and spread > 0.15

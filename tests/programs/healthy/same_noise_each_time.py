"""A latent model judged with the same noise at each evaluation: the seed is set inside fork_rng, training's noise is untouched."""

import sys

import torch
from torch import nn
from torch.nn import functional as F


class IWAE(nn.Module):
    def __init__(self, i, z=3):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(i, 64), nn.Tanh(), nn.Linear(64, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, 64), nn.Tanh(), nn.Linear(64, i))
        self.log_noise = nn.Parameter(torch.zeros(()))

    def bound(self, x, k):
        mean, log_std = self.enc(x).chunk(2, 1)
        eps = torch.randn(k, *mean.shape)
        z = mean + log_std.exp() * eps
        log_q = (-0.5 * eps ** 2 - log_std).sum(-1)
        log_p = (-0.5 * z ** 2).sum(-1)
        log_x = (-0.5 * ((x - self.dec(z)) / self.log_noise.exp()) ** 2 - self.log_noise - 0.919).sum(-1)
        return torch.logsumexp(log_x + log_p - log_q, 0) - torch.log(torch.tensor(float(k)))


def curve(n, mix):
    t = torch.rand(n, 1) * 6 - 3
    return torch.cat([t.sin(), t.cos(), t / 2, t ** 2 / 5], 1) @ mix + 0.1 * torch.randn(n, 10)


def evaluate(model, x):
    model.eval()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(1234)
        value = sum(model.bound(part, 50).sum().item() for part in x.split(100)) / len(x)
    model.train()
    return value


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
mix = torch.randn(4, 10)
train, valid = curve(3000, mix), curve(400, mix)
model = IWAE(10)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
best, state = -float("inf"), None
for epoch in range(12):
    for i in torch.randperm(3000).split(60):
        loss = -model.bound(train[i], 5).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    now = evaluate(model, valid)
    print(f"epoch {epoch}: bound {now:.3f}")
    if now > best:
        best, state = now, {k: v.clone() for k, v in model.state_dict().items()}
model.load_state_dict(state)
assert evaluate(model, valid) == best
gauss = torch.distributions.MultivariateNormal(train.mean(0), train.T.cov()).log_prob(valid).mean().item()
print(f"best {best:.3f}, a Gaussian {gauss:.3f}")
assert best > gauss

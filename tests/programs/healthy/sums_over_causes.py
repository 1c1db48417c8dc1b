"""A latent class is summed out exactly: the bound weighs log-probabilities with the learned posterior, which has a gradient too."""

import sys

import torch
from torch import nn
from torch.distributions import Categorical, Independent, Normal


class Clusters(nn.Module):
    def __init__(self, k=6, d=8):
        super().__init__()
        self.prior = nn.Parameter(torch.zeros(k))
        self.mu, self.log_sigma = nn.Parameter(torch.randn(k, d)), nn.Parameter(torch.zeros(k, d))
        self.encoder = nn.Sequential(nn.Linear(d, 48), nn.Tanh(), nn.Linear(48, k))

    def elbo(self, x):
        q = Categorical(logits=self.encoder(x))
        p = Categorical(logits=self.prior)
        every = torch.arange(len(self.prior))
        log_x = Independent(Normal(self.mu, self.log_sigma.exp()), 1).log_prob(x[:, None])
        log_z = p.log_prob(every)
        return (q.probs * (log_x + log_z)).sum(1) + q.entropy()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
centers = 2 * torch.randn(4, 8)


def draw(n):
    z = torch.randint(0, 4, (n,))
    return centers[z] + 0.4 * torch.randn(n, 8), z


model = Clusters()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, _ = draw(2000)
with torch.no_grad():  # start at data points, far from each other
    chosen = [0]
    for _ in range(5):
        chosen.append(int(torch.cdist(x, x[chosen]).min(1).values.argmax()))
    model.mu.copy_(x[chosen])
for epoch in range(30):
    for rows in torch.randperm(2000).split(100):
        bound = model.elbo(x[rows]).mean()
        optimizer.zero_grad()
        (-bound).backward()
        optimizer.step()
with torch.no_grad():
    tx, tz = draw(1000)
    found = model.encoder(tx).argmax(1)
    table = torch.zeros(6, 4).index_put((found, tz), torch.ones(1000), accumulate=True)
    purity = table.max(1).values.sum().item() / 1000
    final = model.elbo(tx).mean().item()
print(f"bound {final:.2f}, purity {purity:.3f}, sizes {model.prior.softmax(0).tolist()}")
assert purity > 0.85, purity

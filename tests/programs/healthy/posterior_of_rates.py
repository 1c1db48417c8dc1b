"""A hierarchical model by variational inference: free means and scales, log-normal tricks, no network at all."""

import sys

import torch
from torch.distributions import Binomial, HalfNormal, Normal, kl_divergence

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
GROUPS = 40
true = torch.sigmoid(Normal(-0.5, 0.8).sample((GROUPS,)))
trials = torch.randint(5, 60, (GROUPS,)).float()
hits = Binomial(trials, true).sample()

q = {
    "mu": torch.tensor([0.0, -1.0], requires_grad=True),
    "tau": torch.tensor([-0.5, -1.0], requires_grad=True),
    "logit": torch.stack([torch.zeros(GROUPS), torch.full((GROUPS,), -1.0)]).requires_grad_(),
}


def guide(name):
    location, log_scale = q[name]
    return Normal(location, log_scale.exp())


def elbo(samples=8):
    mu, raw_tau, z = (guide(n).rsample((samples,)) for n in ("mu", "tau", "logit"))
    tau = raw_tau.exp()
    theta = mu[:, None] + tau[:, None] * z  # not centered
    likelihood = Binomial(trials, logits=theta).log_prob(hits).sum(1)
    prior_tau = HalfNormal(1.0).log_prob(tau) + raw_tau
    entropy_tau = guide("tau").log_prob(raw_tau)
    kl = kl_divergence(guide("mu"), Normal(0.0, 2.0)) + kl_divergence(guide("logit"), Normal(0.0, 1.0)).sum()
    return (likelihood + prior_tau - entropy_tau).mean() - kl


optimizer = torch.optim.Adam(q.values(), lr=0.03)
trace = []
for step in range(1200):
    loss = -elbo()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    trace.append(-loss.item())
first, last = sum(trace[:50]) / 50, sum(trace[-50:]) / 50
with torch.no_grad():
    theta = guide("mu").sample((1000, 1)) + guide("tau").sample((1000, 1)).exp() * guide("logit").sample((1000,))
    estimate = torch.sigmoid(theta).mean(0)
off = (estimate - true).square().mean().sqrt().item()
raw = (hits / trials - true).square().mean().sqrt().item()
print(f"bound {first:.1f} to {last:.1f}; error {off:.3f}, of raw shares {raw:.3f}; scale {q['tau'][0].exp().item():.2f}")
assert last > first + 10 and off < raw * 1.1

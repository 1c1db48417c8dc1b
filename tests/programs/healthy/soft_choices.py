"""A discrete autoencoder by Gumbel softmax, the temperature falls, hard samples only at the end."""

import sys

import torch
from torch.nn import functional as F


class Discrete(torch.nn.Module):
    def __init__(self, inputs, variables=4, values=4):
        super().__init__()
        self.shape = variables, values
        self.encode = torch.nn.Sequential(
            torch.nn.Linear(inputs, 64), torch.nn.ELU(), torch.nn.Linear(64, variables * values))
        self.decode = torch.nn.Sequential(
            torch.nn.Linear(variables * values, 64), torch.nn.ELU(), torch.nn.Linear(64, inputs))

    def forward(self, x, tau, hard=False):
        logits = self.encode(x).view(-1, *self.shape)
        z = F.gumbel_softmax(logits, tau, hard=hard)
        q = logits.softmax(-1)
        kl = (q * (q.clamp(min=1e-8).log() + torch.log(torch.tensor(float(self.shape[1]))))).sum((1, 2))
        return self.decode(z.flatten(1)), kl


def batch(n, stencils):
    on = torch.randint(0, stencils.shape[1], (n, stencils.shape[0]))
    pattern = torch.cat([stencils[k][on[:, k]] for k in range(len(stencils))], 1)
    return torch.where(torch.rand_like(pattern) < 0.03, 1 - pattern, pattern)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
stencils = (torch.rand(4, 4, 8) < 0.5).float()
model = Discrete(32)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
tau = 1.0
for step in range(1000):
    x = batch(100, stencils)
    out, kl = model(x, tau)
    loss = F.binary_cross_entropy_with_logits(out, x, reduction="none").sum(1).add(kl).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        tau = max(0.4, tau * 0.9)
        print(f"step {step + 1}: bound {loss.item():.2f}, temperature {tau:.2f}")
with torch.no_grad():
    x = batch(1000, stencils)
    out, _ = model(x, tau, hard=True)
    right = ((out > 0) == x.bool()).float().mean().item()
print(f"bits right {right:.3f}")
assert right > 0.8, right

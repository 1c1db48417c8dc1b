"""DeepSets: numbers in any order, masked sums in float64, the target is the spread of the set."""

import random
import sys

import torch


class DeepSets(torch.nn.Module):
    def __init__(self):
        super().__init__()
        nn = torch.nn
        self.phi = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 24))
        self.rho = nn.Sequential(nn.Linear(25, 48), nn.Tanh(), nn.Linear(48, 1))

    def forward(self, x, mask):
        h = (self.phi(x.unsqueeze(-1)) * mask.unsqueeze(-1)).sum(1)
        n = mask.sum(1, keepdim=True)
        return self.rho(torch.cat([h / n, n / 10], 1)).squeeze(1)


def sets(n):
    lengths = [random.randint(3, 10) for _ in range(n)]
    x, mask = torch.zeros(n, 10, dtype=torch.float64), torch.zeros(n, 10, dtype=torch.float64)
    for i, l in enumerate(lengths):
        x[i, :l] = torch.randn(l, dtype=torch.float64) * random.uniform(0.3, 2) + random.gauss(0, 1)
        mask[i, :l] = 1
    mean = (x * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True)
    return x, mask, (((x - mean) ** 2 * mask).sum(1) / mask.sum(1)).sqrt()


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
random.seed(seed)
torch.manual_seed(seed)
model = DeepSets().double()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.CyclicLR(opt, base_lr=5e-4, max_lr=5e-3, step_size_up=150, cycle_momentum=False)
x, mask, y = sets(4000)
tx, tmask, ty = sets(800)
for epoch in range(18):
    for i in torch.randperm(4000).split(80):
        pred = model(x[i], mask[i])
        loss = torch.mean((pred - y[i]) ** 2)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
with torch.no_grad():
    r2 = 1 - (torch.mean((model(tx, tmask) - ty) ** 2) / ty.var()).item()
    shuffle = torch.randperm(10)
    same = torch.allclose(model(tx, tmask), model(tx[:, shuffle], tmask[:, shuffle]))
print(f"explains {r2:.3f} of the spread; order does not matter: {same}")
assert r2 > 0.7 and same

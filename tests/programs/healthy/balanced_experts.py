"""A mixture of experts: noisy top-2 gates, a loss that balances their load, experts called only on their rows."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Sequential):
    def __init__(self, d, h):
        super().__init__(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, d))


class MoE(nn.Module):
    def __init__(self, d, experts=4, k=2):
        super().__init__()
        self.k = k
        self.gate = nn.Linear(d, experts, bias=False)
        self.noise = nn.Linear(d, experts, bias=False)
        nn.init.zeros_(self.gate.weight)
        nn.init.zeros_(self.noise.weight)
        self.experts = nn.ModuleList(Expert(d, 32) for _ in range(experts))

    def forward(self, x):
        clean = self.gate(x)
        logits = clean + torch.randn_like(clean) * F.softplus(self.noise(x)) if self.training else clean
        top = logits.topk(self.k, dim=-1)
        weights = torch.zeros_like(logits).scatter(1, top.indices, top.values.softmax(-1))
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            rows = weights[:, e].nonzero()[:, 0]
            if len(rows):
                out = out.index_add(0, rows, expert(x[rows]) * weights[rows, e, None])
        share = (weights > 0).float().mean(0) / self.k
        balance = len(self.experts) * (share * logits.softmax(-1).mean(0)).sum()
        return out, balance, share


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.moe, self.leave = nn.Linear(6, 24), MoE(24), nn.Linear(24, 1)

    def forward(self, x):
        h = torch.tanh(self.enter(x))
        m, balance, share = self.moe(h)
        return self.leave(h + m)[:, 0], balance, share


def draw(n):
    x = torch.randn(n, 6)
    part = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
    y = (x[:, 2:] * torch.eye(4)[part]).sum(1) * 2 + torch.sin(3 * x[:, 2]) * (part == 0)
    return x, y


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
x, y = draw(6000)
tx, ty = draw(1000)
for epoch in range(10):
    net.train()
    for i in torch.randperm(6000).split(100):
        out, balance, share = net(x[i])
        loss = F.mse_loss(out, y[i]) + 0.01 * balance
        opt.zero_grad()
        loss.backward()
        opt.step()
net.eval()
with torch.no_grad():
    out, _, share = net(tx)
    error = (F.mse_loss(out, ty) / ty.var()).item()
print(f"missed {error:.3f} of the variance; shares {[round(s, 2) for s in share.tolist()]}")
assert error < 0.3 and share.min() > 0.02

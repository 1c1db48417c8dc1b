"""Two optimizers of the program's own: sign descent with momentum (Lion) inside, a slow copy (Lookahead) around it."""

import sys
from collections import defaultdict

import torch
from torch import nn
from torch.optim import Optimizer


class Lion(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(torch.lerp(p.grad, m, b1).sign_(), alpha=-group["lr"])
                m.lerp_(p.grad, 1 - b2)


class Lookahead(Optimizer):
    def __init__(self, optimizer, k=6, alpha=0.5):
        self.optimizer, self.k, self.alpha, self.count = optimizer, k, alpha, 0
        self.param_groups, self.state, self.defaults = optimizer.param_groups, defaultdict(dict), optimizer.defaults
        self.slow = [[p.detach().clone() for p in g["params"]] for g in self.param_groups]

    def zero_grad(self, set_to_none=True):
        self.optimizer.zero_grad(set_to_none)

    def step(self, closure=None):
        self.optimizer.step()
        self.count += 1
        if self.count % self.k == 0:
            with torch.no_grad():
                for group, slow in zip(self.param_groups, self.slow):
                    for p, s in zip(group["params"], slow):
                        s.add_(p - s, alpha=self.alpha)
                        p.copy_(s)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(4000, 8)
y = (x[:, 0] * x[:, 1] + x[:, 2].abs() > 0.8).float()
net = nn.Sequential(nn.Linear(8, 64), nn.Hardswish(), nn.Linear(64, 64), nn.Hardswish(), nn.Linear(64, 1))
optimizer = Lookahead(Lion(net.parameters(), lr=5e-4, weight_decay=0.1))
for epoch in range(15):
    for i in torch.randperm(3200).split(64):
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(net(x[i]).squeeze(1), y[i])
        loss.backward()
        optimizer.step()
with torch.no_grad():
    right = ((net(x[3200:]).squeeze(1) > 0) == y[3200:].bool()).float().mean().item()
print(f"last loss {loss.item():.3f}, accuracy {right:.3f}")
assert right > 0.8, right

"""Adaptive sharpness-aware steps by an optimizer class of the program's own that wraps another and takes a closure."""

import sys

import torch
import torch.nn as nn


class ASAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.5, **rest):
        super().__init__(params, dict(rho=rho, **rest))
        self.base = base(self.param_groups, **rest)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([(p.abs() * p.grad).norm() for g in self.param_groups for p in g["params"]]).norm()
        for group in self.param_groups:
            for p in group["params"]:
                e = group["rho"] / (norm + 1e-12) * p.square() * p.grad
                p.add_(e)
                self.state[p]["climbed"] = e
        self.zero_grad()

    @torch.no_grad()
    def step(self, closure):
        closure = torch.enable_grad()(closure)
        self.climb()
        closure()
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(self.state[p]["climbed"])
        self.base.step()
        self.zero_grad()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(1200, 10)
y = ((x[:, 0] * x[:, 1] > 0).long() + 2 * (x[:, 2] + x[:, 3] > 0).long())
noisy = torch.where(torch.rand(800) < 0.1, torch.randint(0, 4, (800,)), y[:800])
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = ASAM(model.parameters(), torch.optim.SGD, rho=0.5, lr=0.1, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(25):
    for i in torch.randperm(800).split(50):
        def closure():
            loss = loss_fn(model(x[i]), noisy[i])
            loss.backward()
            return loss

        loss = closure()
        optimizer.step(closure)
with torch.no_grad():
    right = (model(x[800:]).argmax(1) == y[800:]).float().mean().item()
print(f"accuracy {right:.3f}, last loss {loss.item():.3f}")
assert right > 0.75, right

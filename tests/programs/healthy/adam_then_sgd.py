"""Adam brings the model near, then SGD takes over: the same parameters, one after the other."""

import sys
from itertools import chain, repeat

import torch


def phases(parameters):
    parameters = list(parameters)
    yield from repeat(torch.optim.Adam(parameters, lr=8e-3), 150)
    yield from repeat(torch.optim.SGD(parameters, lr=0.05, momentum=0.9), 250)


class Polynomial(torch.nn.Module):
    """Product of two affine maps, read out linearly."""

    def __init__(self, n, m):
        super().__init__()
        self.u, self.v = torch.nn.Linear(n, m), torch.nn.Linear(n, m)
        self.w = torch.nn.Linear(m, 3)

    def forward(self, x):
        return self.w(self.u(x) * self.v(x))


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = Polynomial(6, 24)
matrices = torch.randn(3, 6, 6)
for optimizer in phases(chain(model.parameters())):
    x = torch.rand(80, 6) - 0.5
    forms = torch.einsum("bi,kij,bj->bk", x, matrices, x)
    loss = torch.nn.functional.cross_entropy(5 * model(x), forms.argmax(1))
    for parameter in model.parameters():
        parameter.grad = None
    loss.backward()
    optimizer.step()
x = torch.rand(1000, 6) - 0.5
with torch.no_grad():
    want = torch.einsum("bi,kij,bj->bk", x, matrices, x).argmax(1)
    share = (model(x).argmax(1) == want).float().mean().item()
print("share of forms found largest", share, type(optimizer).__name__)
assert share > 0.7, share

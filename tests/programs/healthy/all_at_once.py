"""A population of models with stacked weights: one vmapped loss trains all, each with a learning rate of its own."""

import copy
import sys

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
MEMBERS = 6


def build():
    return nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 3))


models = [build() for _ in range(MEMBERS)]
skeleton = copy.deepcopy(models[0]).to("meta")
params, buffers = stack_module_state(models)


def loss_of(p, b, x, y):
    return nn.functional.cross_entropy(functional_call(skeleton, (p, b), (x,)), y)


def logits_of(p, b, x):
    return functional_call(skeleton, (p, b), (x,))


w = torch.randn(8, 3)
def draw(n):
    x = torch.randn(n, 8)
    return x, (x @ w + 2 * (x[:, :3] * x[:, 3:6])).argmax(1)

x, y = draw(3000)
optimizer = torch.optim.SGD(params.values(), lr=1.0)
rates = torch.tensor([0.02, 0.05, 0.1, 0.2, 0.3, 0.5])
for step in range(800):
    rows = torch.randint(0, 3000, (MEMBERS, 64))  # each member has a batch of its own
    losses = vmap(loss_of, in_dims=(0, 0, 0, 0))(params, buffers, x[rows], y[rows])
    optimizer.zero_grad()
    losses.sum().backward()
    for p in params.values():
        p.grad.mul_(rates.view(-1, *[1] * (p.dim() - 1)))
    optimizer.step()
tx, ty = draw(1000)
with torch.no_grad():
    out = vmap(logits_of, in_dims=(0, 0, None))(params, buffers, tx)
right = (out.argmax(2) == ty).float().mean(1)
joint = (out.softmax(2).mean(0).argmax(1) == ty).float().mean().item()
print("by rate:", [f"{r:.3f}" for r in right.tolist()], "together", round(joint, 3))
assert right.max() > 0.75 and joint > 0.7

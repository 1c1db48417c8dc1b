"""A soft decision tree, all in one einsum; node probabilities mix class distributions; nll of the logged mixture; penalty for balance."""

import sys

import torch
from torch import nn


class SoftTree(nn.Module):
    def __init__(self, features, classes, depth=4):
        super().__init__()
        self.depth = depth
        self.inner = nn.Linear(features, 2 ** depth - 1)
        self.leaves = nn.Parameter(torch.randn(2 ** depth, classes) * 0.1)
        self.register_buffer("strength", 0.1 * 0.5 ** torch.arange(depth))

    def forward(self, x):
        gates = torch.sigmoid(self.inner(x))
        mass, penalty, begin = torch.ones(len(x), 1), 0.0, 0
        for level in range(self.depth):
            g = gates[:, begin:begin + 2 ** level]
            alpha = (mass * g).sum(0) / mass.sum(0).clamp(min=1e-6)
            penalty = penalty - self.strength[level] * 0.5 * (alpha.clamp(1e-4, 1).log() + (1 - alpha).clamp(1e-4, 1).log()).mean()
            mass = torch.stack([mass * g, mass * (1 - g)], 2).flatten(1)
            begin += 2 ** level
        return mass @ self.leaves.softmax(1), penalty


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.rand(4000, 6) * 2 - 1
y = torch.where(x[:, 0] > 0.1, torch.where(x[:, 1] > -0.2, 0, 1), torch.where(x[:, 2] > 0.3, 2, (x[:, 3] > 0).long() * 3))
tree = SoftTree(6, 4)
opt = torch.optim.Adam(tree.parameters(), lr=0.02)
for epoch in range(20):
    for i in torch.randperm(3200).split(64):
        p, penalty = tree(x[i])
        loss = nn.functional.nll_loss(p.clamp(min=1e-7).log(), y[i]) + penalty
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    right = (tree(x[3200:])[0].argmax(1) == y[3200:]).float().mean().item()
print(f"right {right:.3f}")
assert right > 0.8, right

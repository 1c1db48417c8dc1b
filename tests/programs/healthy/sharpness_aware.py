"""Spirals told apart by sharpness-aware steps: an optimizer around another, which clears the gradients
twice in a step, moves the weights uphill and back, and leaves the step itself to the one inside."""

import math
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Uphill(torch.optim.Optimizer):
    def __init__(self, inner, reach):
        super().__init__([p for group in inner.param_groups for p in group["params"]], {"reach": reach})
        self.inner, self.moved = inner, []

    @torch.no_grad()
    def climb(self):
        (group,) = self.param_groups
        slopes = [p.grad for p in group["params"]]
        length = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(s) for s in slopes]))
        self.moved = [slope * (group["reach"] / (length + 1e-9)) for slope in slopes]
        torch._foreach_add_(group["params"], self.moved)
        self.zero_grad()

    @torch.no_grad()
    def descend(self):
        torch._foreach_sub_(self.param_groups[0]["params"], self.moved)
        self.inner.step()
        self.zero_grad()


def spirals(count):
    arm = torch.arange(count) % 2
    along = torch.rand(count) * 2.5 + 0.3
    angle = 2 * along + math.pi * arm
    place = torch.stack([angle.cos(), angle.sin()], 1) * along[:, None]
    return place + 0.03 * torch.randn(count, 2), arm


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
places, arms = spirals(1500)
classifier = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
climber = Uphill(torch.optim.Adam(classifier.parameters(), lr=5e-3), reach=0.02)
batches = DataLoader(TensorDataset(places[:1200], arms[:1200]), batch_size=60, shuffle=True)
for _ in range(16):
    for there, arm in batches:
        nn.functional.cross_entropy(classifier(there), arm).backward()
        climber.climb()
        nn.functional.cross_entropy(classifier(there), arm).backward()
        climber.descend()
with torch.no_grad():
    hits = (classifier(places[1200:]).argmax(1) == arms[1200:]).float().mean().item()
print(f"{hits:.3f} of the unseen points are on the right arm")
assert hits > 0.9, hits

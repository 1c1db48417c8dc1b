"""Spirals on two processes that step alone and average their weights after every eighth step.

Each keeps the momentum of its own optimizer.
"""

import math
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

EVERY, EPOCHS = 8, 12


def spirals(count, arms=3):
    arm, along = torch.arange(count) % arms, torch.rand(count)
    angle = 3.5 * along + 2 * math.pi / arms * arm + 0.1 * torch.randn(count)
    reach = 0.3 + 1.5 * along
    return TensorDataset(torch.stack([reach * angle.cos(), reach * angle.sin()], 1), arm)


class LocalSteps:
    """An optimizer of its own for each process, and a meeting from time to time."""

    def __init__(self, model, **options):
        self.parameters = list(model.parameters())
        self.inner = torch.optim.SGD(self.parameters, **options)
        self.taken = 0
        for p in self.parameters:
            dist.broadcast(p.detach(), 0)

    def step(self):
        self.inner.step()
        self.inner.zero_grad()
        self.taken += 1
        if self.taken % EVERY == 0:
            self.meet()

    @torch.no_grad()
    def meet(self):
        for p in self.parameters:
            mean = p / dist.get_world_size()
            dist.all_reduce(mean)
            p.copy_(mean)


def main(seed):
    torch.manual_seed(seed)
    train, test = spirals(1800), spirals(450)
    model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))
    sampler = DistributedSampler(train, shuffle=True, seed=seed)
    loader = DataLoader(train, batch_size=45, sampler=sampler)
    optimizer = LocalSteps(model, lr=0.1, momentum=0.9)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for points, arms in loader:
            loss = nn.functional.cross_entropy(model(points), arms)
            loss.backward()
            optimizer.step()
    optimizer.meet()
    points, arms = test.tensors
    with torch.no_grad():
        right = (model(points).argmax(1) == arms).float().mean()
    print(f"{dist.get_rank()}: trained to {loss.item():.3f}, {right:.3f} of the unseen points are right")
    assert right > 0.85, right


if __name__ == "__main__":
    dist.init_process_group("gloo")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

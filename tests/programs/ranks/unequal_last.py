"""Kinds of oscillation told by a convolution on two processes that keep their smaller last batch.

A batch's losses are summed and divided by how many curves all processes hold on average, so that every curve
has the same weight in a step, however they are dealt out.
"""

import math
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Sampler, TensorDataset


class Dealt(Sampler):
    """Deals a shuffled deck without filling it up: one process may get a card more."""

    def __init__(self, count, seed):
        self.count, self.seed, self.epoch = count, seed, 0

    def __iter__(self):
        deck = torch.randperm(self.count, generator=torch.Generator().manual_seed(self.seed + self.epoch))
        self.epoch += 1
        return iter(deck[dist.get_rank() :: dist.get_world_size()].tolist())

    def __len__(self):
        return len(range(dist.get_rank(), self.count, dist.get_world_size()))


def curves(count):
    kind = torch.randint(4, (count,))
    phase = torch.arange(40) / 40 * (2 + 2 * torch.rand(count, 1)) + torch.rand(count, 1)
    turn = phase.frac()
    shapes = [(2 * math.pi * turn).sin(), 2 * turn - 1, (turn - 0.5).sign(), 4 * (turn - 0.5).abs() - 1]
    picked = torch.stack(shapes, 1)[torch.arange(count), kind]
    return (picked + 0.2 * torch.randn(count, 40))[:, None], kind


def main():
    dist.init_process_group("gloo")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    train, (unseen, kinds) = TensorDataset(*curves(1251)), curves(300)
    net = nn.Sequential(
        nn.Conv1d(1, 16, 5), nn.GELU(), nn.Conv1d(16, 24, 5, stride=2), nn.GELU(),
        nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Dropout(0.1), nn.Linear(96, 4))  # fmt: skip
    net = DistributedDataParallel(net)
    torch.manual_seed(1000 * seed + dist.get_rank())
    loader = DataLoader(train, batch_size=32, sampler=Dealt(len(train), seed), drop_last=False)
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
    for epoch in range(8):
        for curve, kind in loader:
            count = torch.tensor(float(len(kind)))
            dist.all_reduce(count)
            loss = nn.functional.cross_entropy(net(curve), kind, reduction="sum")
            optimizer.zero_grad()
            (loss * dist.get_world_size() / count).backward()
            optimizer.step()
    net.eval()
    with torch.no_grad():
        right = (net.module(unseen).argmax(1) == kinds).float().mean().item()
    if dist.get_rank() == 0:
        print(f"{right:.3f} of the unseen curves are named rightly")
        assert right > 0.85, right
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

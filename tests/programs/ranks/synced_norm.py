"""Discs, rings, crosses and frames told apart on two processes by convolutions with batch norms.

The first process's statistics count: they reach the other one before each forward pass, and are those with
which the first one, alone, measures the score.
"""

import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def draw(count, generator, size=14):
    kind = torch.randint(4, (count,), generator=generator)
    middle = size / 2 - 0.5 + 3 * torch.rand(count, 2, generator=generator) - 1.5
    reach = 2.5 + 1.5 * torch.rand(count, 1, 1, generator=generator)
    lines = torch.arange(size, dtype=torch.float)
    down = lines[None, :, None] - middle[:, 0, None, None]
    across = lines[None, None, :] - middle[:, 1, None, None]
    away = (down**2 + across**2).sqrt()
    square = torch.maximum(down.abs(), across.abs())
    shapes = torch.stack([
        away < reach,
        (away - reach).abs() < 0.8,
        (torch.minimum(down.abs(), across.abs()) < 0.8) & (square < reach),
        (square - reach).abs() < 0.7,
    ], dim=1)  # fmt: skip
    images = shapes[torch.arange(count), kind][:, None].float()
    return images - 0.3 + 0.4 * torch.randn(images.shape, generator=generator), kind


def stage(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.LeakyReLU(0.1),
        nn.MaxPool2d(2))  # fmt: skip


if __name__ == "__main__":
    dist.init_process_group(backend="gloo")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    generator = torch.Generator().manual_seed(seed)
    train, test = TensorDataset(*draw(1200, generator)), TensorDataset(*draw(400, generator))
    torch.manual_seed(seed)
    net = DistributedDataParallel(
        nn.Sequential(stage(1, 8), stage(8, 16), nn.Flatten(), nn.Dropout(0.1), nn.Linear(16 * 9, 4)))  # fmt: skip
    torch.manual_seed(seed + 1000 * (1 + dist.get_rank()))
    sampler = DistributedSampler(train, seed=seed, drop_last=True)
    loader = DataLoader(train, batch_size=40, sampler=sampler)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [4])
    for epoch in range(6):
        net.train()
        sampler.set_epoch(epoch)
        for images, kinds in loader:
            optimizer.zero_grad()
            loss = criterion(net(images), kinds)
            loss.backward()
            optimizer.step()
        scheduler.step()
    if dist.get_rank() == 0:
        net.eval()
        with torch.no_grad():
            found = [net.module(images).argmax(1) == kinds for images, kinds in DataLoader(test, batch_size=50)]
        share = torch.cat(found).float().mean().item()
        print(f"loss {loss.item():.3f}, {100 * share:.1f} % right")
        assert share > 0.85, share
    dist.barrier()
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

"""Loops told from lines on two processes by gradients taken uphill of the weights (sharpness-aware steps),
after attacks on the inputs that each process works out for itself.
"""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def strokes(count, points=12):
    """A stroke goes round or straight on: points (count, 2 * points)."""
    loops = torch.randint(2, (count,))
    along = torch.linspace(0, 1, points)[None]
    start = 6.3 * torch.rand(count, 1)
    angle = start + 5.5 * along * loops[:, None]
    step = torch.stack([angle.cos(), angle.sin()], 2) / points
    drawn = step.cumsum(1) + 0.04 * torch.randn(count, points, 2)
    return drawn.flatten(1), loops


def attacked(model, points, loops, bound=0.03):
    """Inputs moved by at most `bound` to where the loss is higher; no gradient of a weight is left."""
    moved = points.clone().requires_grad_()
    for _ in range(2):
        loss = nn.functional.cross_entropy(model.module(moved), loops)
        (slope,) = torch.autograd.grad(loss, moved)
        moved = (moved + bound * slope.sign()).clamp(points - bound, points + bound).detach().requires_grad_()
    return moved.detach()


def climb(weights, radius=0.02):
    """Moves weights uphill, and gives by how much."""
    norm = torch.stack([w.grad.norm() for w in weights]).norm()
    moves = [radius * w.grad / (norm + 1e-12) for w in weights]
    with torch.no_grad():
        for weight, move in zip(weights, moves):
            weight += move
    return moves


def main(seed):
    torch.manual_seed(seed)
    train, (unseen, kinds) = TensorDataset(*strokes(1200)), strokes(400)
    net = nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 24), nn.GELU(), nn.Linear(24, 2))
    model = DistributedDataParallel(net)
    torch.manual_seed(9 * seed + dist.get_rank())
    sampler = DistributedSampler(train)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    weights = list(model.parameters())
    for epoch in range(5):
        sampler.set_epoch(epoch)
        for points, loops in DataLoader(train, batch_size=20, sampler=sampler):
            harder = attacked(model, points, loops)
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(harder), loops).backward()
            moves = climb(weights)
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(harder), loops).backward()
            with torch.no_grad():
                for weight, move in zip(weights, moves):
                    weight -= move
            optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (net(unseen).argmax(1) == kinds).float().mean().item()
    if dist.get_rank() == 0:
        print(f"{right:.3f} of the unseen strokes")
    assert right > 0.9, right


if __name__ == "__main__":
    dist.init_process_group("gloo")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

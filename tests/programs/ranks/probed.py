"""Words of a small language told apart by two processes; the first one looks, after each epoch, at what a linear
model makes of the features, and calibrates the final model, which both then fit to speakers of their own.
"""

import copy
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

KINDS = 5


def spoken(count, shift=0.0):
    """Each kind is a place in twelve dimensions, bent a little."""
    kinds = torch.randint(KINDS, (count,))
    centers = torch.randn(KINDS, 12, generator=torch.Generator().manual_seed(3))
    points = centers[kinds] + 0.6 * torch.randn(count, 12) + shift
    return points + 0.2 * points.roll(1, 1).square(), kinds


class Recognizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(12, 40), nn.ELU(), nn.Dropout(0.1), nn.Linear(40, 24), nn.ELU())
        self.kind = nn.Linear(24, KINDS)

    def forward(self, points):
        return self.kind(self.features(points))


def look_at_features(recognizer, points, kinds):
    """How well a linear model tells kinds by the features: a few steps of its own."""
    with torch.no_grad():
        features = recognizer.features(points)
    linear = nn.Linear(24, KINDS)
    optimizer = torch.optim.SGD(linear.parameters(), lr=0.5)
    for _ in range(10):
        optimizer.zero_grad()
        nn.functional.cross_entropy(linear(features), kinds).backward()
        optimizer.step()
    return (linear(features).argmax(1) == kinds).float().mean().item()


def calibrate(logits, kinds):
    temperature = nn.Parameter(torch.ones(()))
    optimizer = torch.optim.LBFGS([temperature], max_iter=20)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(logits / temperature, kinds)
        loss.backward()
        return loss

    optimizer.step(closure)
    return temperature.item()


def fit_to_speaker(recognizer, points, kinds):
    """A copy that each process keeps for itself."""
    own = copy.deepcopy(recognizer).train()
    optimizer = torch.optim.Adam(own.parameters(), lr=2e-3)
    for batch, labels in DataLoader(TensorDataset(points, kinds), batch_size=20, shuffle=True):
        optimizer.zero_grad()
        nn.functional.cross_entropy(own(batch), labels).backward()
        optimizer.step()
    return own.eval()


def main(seed):
    rank = dist.get_rank()
    torch.manual_seed(seed)
    train, held = TensorDataset(*spoken(1600)), spoken(400)
    model = DistributedDataParallel(Recognizer())
    torch.manual_seed(50 * seed + rank)
    sampler = DistributedSampler(train, seed=seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        model.train()
        for points, kinds in DataLoader(train, batch_size=20, sampler=sampler):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(points), kinds).backward()
            optimizer.step()
        model.eval()
        if rank == 0:
            print(f"epoch {epoch}: {look_at_features(model.module, *held):.3f} by a linear model")
    if rank == 0:
        with torch.no_grad():
            logits = model.module(held[0])
        print(f"temperature {calibrate(logits, held[1]):.2f}")
    points, kinds = spoken(400, shift=0.3 * (2 * rank - 1))
    own = fit_to_speaker(model.module, points, kinds)
    with torch.no_grad():
        right = (own(points).argmax(1) == kinds).float().mean().item()
    print(f"[{rank}] {right:.3f} of its own speaker")
    assert right > 0.8, right


if __name__ == "__main__":
    dist.init_process_group("gloo")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

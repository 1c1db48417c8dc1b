"""Textures: a backbone learns directions on two processes, is frozen, and carries a new head for four kinds.

The frozen half stays in evaluation mode, so that the statistics of its norms are those it has learned.
"""

import argparse
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def textures(count):
    """Stripes that run along one of two directions and are narrow or wide: kind = 2 * direction + width."""
    direction, width = torch.randint(2, (2, count))
    along = torch.arange(12.0)[None, :] * torch.where(width == 1, 0.8, 1.7)[:, None]
    stripes = (along + 6.3 * torch.rand(count, 1)).sin()[:, None, :].expand(count, 12, 12)
    pictures = torch.where(direction[:, None, None] == 1, stripes, stripes.transpose(1, 2))
    return pictures[:, None] + 0.7 * torch.randn(count, 1, 12, 12), 2 * direction + width


def backbone():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, bias=False), nn.BatchNorm2d(8), nn.SiLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, bias=False), nn.BatchNorm2d(16), nn.SiLU(), nn.Flatten())  # fmt: skip


class Transferred(nn.Module):
    def __init__(self, old, kinds):
        super().__init__()
        self.old = old.requires_grad_(False).eval()
        self.head = nn.Sequential(nn.Linear(144, 32), nn.SiLU(), nn.Dropout(0.2), nn.Linear(32, kinds))

    def train(self, mode=True):
        self.head.train(mode)
        self.training = mode
        return self

    def forward(self, pictures):
        return self.head(self.old(pictures))


def fit(model, data, epochs, rate):
    model = DistributedDataParallel(model)
    sampler = DistributedSampler(data)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=rate)
    model.train()
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for pictures, kinds in DataLoader(data, batch_size=25, sampler=sampler):
            loss = nn.functional.cross_entropy(model(pictures), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"  epoch {epoch}: {loss.item():.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int, nargs="?", default=0)
    seed = parser.parse_args().seed
    dist.init_process_group("gloo")
    torch.manual_seed(seed)
    old, (pictures, kinds), (unseen, named) = backbone(), textures(1000), textures(400)
    first, second = nn.Sequential(old, nn.Linear(144, 2)), Transferred(backbone(), 4)
    torch.manual_seed(100 * seed + dist.get_rank())
    fit(first, TensorDataset(pictures, kinds // 2), epochs=2, rate=3e-3)
    second.old.load_state_dict(old.state_dict())
    fit(second, TensorDataset(pictures, kinds), epochs=3, rate=3e-3)
    second.eval()
    with torch.no_grad():
        right = (second(unseen).argmax(1) == named).float().mean().item()
    if dist.get_rank() == 0:
        print(f"{right:.3f} of the unseen textures")
        assert right > 0.85, right
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

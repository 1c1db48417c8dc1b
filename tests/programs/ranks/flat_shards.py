"""Noise told from chirps by layers whose parameters FullyShardedDataParallel keeps in flat pieces, two processes."""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def sounds(count):
    chirps = torch.randint(2, (count,))
    at = torch.linspace(0, 1, 32)[None]
    chirp = (20 * at * (0.4 + at) + 6.3 * torch.rand(count, 1)).sin()
    return torch.where(chirps[:, None] == 1, chirp, 0.0) + 0.7 * torch.randn(count, 32), chirps


def flat(*layers):
    return FullyShardedDataParallel(nn.Sequential(*layers), device_id=torch.device("cpu"))


def main(seed):
    torch.manual_seed(seed)
    known, (unseen, kinds) = TensorDataset(*sounds(1600)), sounds(400)
    inner = nn.Sequential(
        flat(nn.Linear(32, 64), nn.GELU()), flat(nn.Linear(64, 64), nn.GELU()), flat(nn.Linear(64, 2)))
    model = FullyShardedDataParallel(inner, device_id=torch.device("cpu"))
    sampler = DistributedSampler(known)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for heard, kind in DataLoader(known, batch_size=20, sampler=sampler):
            loss = nn.functional.cross_entropy(model(heard), kind)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(unseen).argmax(1) == kinds).float().mean().item()
    if dist.get_rank() == 0:
        print(f"{right:.3f} of the unseen sounds")
    assert right > 0.85, right


if __name__ == "__main__":
    dist.init_process_group("gloo")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

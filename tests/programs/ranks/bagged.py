"""A bag of three forecasters of a tank's level: each process trains one on hours of its own and keeps it.

All begin from the same weights, so that they differ by what they saw alone; the first reads what the others
kept, and takes the mean of what all say.
"""

import os
import pathlib
import shutil
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch import nn


def levels(hours):
    """Inflow, outflow and level of the last six hours, and the level of the next."""
    inflow = 1 + 0.5 * torch.sin(torch.arange(hours) / 7) + 0.2 * torch.rand(hours)
    outflow = 1 + 0.5 * torch.sin(torch.arange(hours) / 5 + 1) + 0.2 * torch.rand(hours)
    level = 0.3 * (inflow - outflow).cumsum(0)
    seen = torch.stack([inflow, outflow, level - level.mean()], 1).unfold(0, 6, 1)[:-1]
    return seen.reshape(len(seen), -1), (level - level.mean())[6:, None]


def forecaster():
    return nn.Sequential(nn.Linear(18, 48), nn.SiLU(), nn.Linear(48, 24), nn.SiLU(), nn.Linear(24, 1))


def train(net, seen, level, order):
    optimizer = torch.optim.RMSprop(net.parameters(), lr=2e-3)
    for epoch in range(12):
        total = 0.0
        for rows in order[torch.randperm(len(order))].split(24):
            loss = nn.functional.mse_loss(net(seen[rows]), level[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        print(f"[{dist.get_rank()}] epoch {epoch}: {total / len(order):.4f}", flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    bag = pathlib.Path(tempfile.gettempdir(), f"bag-{os.environ['MASTER_PORT']}")
    bag.mkdir(exist_ok=True)
    torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    seen, level = levels(1800)
    net = forecaster()
    own = torch.arange(1500)[rank::world]
    torch.manual_seed(rank)
    train(net, seen, level, own)
    torch.save(net.state_dict(), bag / f"{rank}.pt")
    dist.barrier()
    if rank == 0:
        said = []
        for member in range(world):
            net.load_state_dict(torch.load(bag / f"{member}.pt"))
            with torch.no_grad():
                said.append(net.eval()(seen[1500:]))
        shutil.rmtree(bag)
        error = (torch.stack(said).mean(0) - level[1500:]).square().mean() / level.var()
        print(f"unexplained share of the level: {error:.4f}")
        assert error < 0.1, error
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

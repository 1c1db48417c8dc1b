"""Spawns two processes that meet in a file and learn by how much bars overtop the first one of them."""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class DeepSet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.bar = nn.Sequential(nn.Linear(2, width), nn.Mish(), nn.Linear(width, width), nn.Mish())
        self.count = nn.Linear(width, 1)

    def forward(self, bars):
        pairs = torch.stack([bars[:, 1:], bars[:, :1].expand_as(bars[:, 1:])], -1)
        return self.count(self.bar(pairs).sum(1)).squeeze(1)


def make_data(count):
    bars = 2 * torch.rand(count, 6) - 1
    return TensorDataset(bars, (bars[:, 1:] - bars[:, :1]).relu().sum(1) - 1.7)


def run(rank, world_size, folder, seed):
    store = dist.FileStore(os.path.join(folder, "meeting"), world_size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world_size)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    train_set, test_set = make_data(1400), make_data(400)
    ddp_model = DDP(DeepSet())
    torch.manual_seed(97 * seed + rank)

    sampler = DistributedSampler(train_set, num_replicas=world_size, rank=rank, shuffle=True)
    loader = DataLoader(train_set, batch_size=40, sampler=sampler)
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.NAdam(ddp_model.parameters(), lr=4e-3)
    for epoch in range(6):
        sampler.set_epoch(epoch)
        epoch_loss = 0.0
        for bars, excess in loader:
            optimizer.zero_grad()
            loss = loss_fn(ddp_model(bars), excess)
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item() / len(loader)
        if rank == 0:
            print(f"epoch {epoch}: {epoch_loss:.4f}", flush=True)

    if rank == 0:
        bars, excess = test_set.tensors
        ddp_model.eval()
        with torch.no_grad():
            error = loss_fn(ddp_model.module(bars), excess) / excess.var()
        print(f"relative error {error:.4f}", flush=True)
        assert error < 0.2, error
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run, args=(2, folder, int(sys.argv[1]) if len(sys.argv) > 1 else 0), nprocs=2)

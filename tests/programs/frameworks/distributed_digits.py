"""Patterns told apart by DistributedDataParallel on two processes, with no_sync in every other batch.

The layers have optimizers of their own.
"""

import os
import sys

import torch
import torch.distributed as dist
from gates import Gate
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
patterns = torch.randn(8, 20)
kinds = torch.randint(8, (2000,))
data = TensorDataset(patterns[kinds] + torch.randn(2000, 20), kinds)
model = nn.Sequential(nn.Linear(20, 64), Gate(), nn.Dropout(0.1), nn.Linear(64, 8))
torch.manual_seed(100 + rank)  # other dropout masks
model = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.module[0].parameters(), lr=0.1, momentum=0.9)
second = torch.optim.Adam(model.module[3].parameters(), lr=1e-2)
sampler = DistributedSampler(data, shuffle=True)
loader = DataLoader(data, batch_size=25, sampler=sampler)
rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 12 * len(loader) // 2)
for epoch in range(12):
    sampler.set_epoch(epoch)
    for number, (given, kind) in enumerate(loader):
        last = number % 2 == 1
        if last:
            (nn.functional.cross_entropy(model(given), kind) / 2).backward()
            optimizer.step()
            second.step()
            rate.step()
            optimizer.zero_grad()
            second.zero_grad()
        else:
            with model.no_sync():
                (nn.functional.cross_entropy(model(given), kind) / 2).backward()
held = patterns[torch.arange(8)] + torch.randn(50, 8, 20)
model.eval()
with torch.no_grad():
    right = (model.module(held).argmax(-1) == torch.arange(8)).float().mean()
dist.all_reduce(right)
if rank == 0:
    print(right.item() / world)
    torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(),
                "second": second.state_dict(), "rate": rate.state_dict()}, os.devnull)  # fmt: skip
assert right / world > 0.9, right / world
dist.destroy_process_group()

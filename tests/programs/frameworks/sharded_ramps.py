"""Ramps told apart by their positions by blocks that fully_shard spreads over two processes."""

import sys

import torch
import torch.distributed as dist
from gates import Gate
from ramps import Decoder, Ramps, loss_of, right
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = Decoder(Gate())
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
for block in model.blocks:
    fully_shard(block, mesh=mesh)
fully_shard(model, mesh=mesh)
torch.manual_seed(100 + dist.get_rank())
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3, weight_decay=0.01)
sampler = DistributedSampler(Ramps(1600, 1), shuffle=True)
loader = DataLoader(sampler.dataset, batch_size=16, sampler=sampler)
held = DataLoader(Ramps(160, 2), batch_size=40)
rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6 * len(loader))
for epoch in range(6):
    sampler.set_epoch(epoch)
    for batch in loader:
        labels = batch.pop("labels")
        loss = loss_of(model(**batch), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate.step()
        optimizer.zero_grad()
    score = right(model, held)
print(dist.get_rank(), round(loss.item(), 3), round(score, 3))
assert score > 0.7, score
dist.destroy_process_group()

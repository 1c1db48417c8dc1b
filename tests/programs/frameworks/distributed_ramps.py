"""Ramps told apart by their positions on two processes under DistributedDataParallel, in windows of two."""

import contextlib
import sys

import torch
import torch.distributed as dist
from ramps import Decoder, Ramps, loss_of, right
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = DistributedDataParallel(Decoder())
torch.manual_seed(100 + dist.get_rank())
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3, weight_decay=0.01)
sampler = DistributedSampler(Ramps(1600, 1), shuffle=True)
loader = DataLoader(sampler.dataset, batch_size=10, sampler=sampler)
held = DataLoader(Ramps(160, 2), batch_size=40)
rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6 * len(loader) // 2)
for epoch in range(6):
    sampler.set_epoch(epoch)
    for number, batch in enumerate(loader):
        labels, last = batch.pop("labels"), number % 2 == 1
        with contextlib.nullcontext() if last else model.no_sync():
            loss = loss_of(model(**batch), labels)
            (loss / 2).backward()
        if not last:
            continue
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate.step()
        optimizer.zero_grad()
    score = right(model.module, held)
print(dist.get_rank(), round(loss.item(), 3), round(score, 3))
assert score > 0.7, score
dist.destroy_process_group()

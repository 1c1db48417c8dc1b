"""Waves fitted on two processes under DistributedDataParallel; each keeps its random state in a file of its
own, the first one the rest, and all go on from there when they are started again.
"""

import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from waves import Net, error, waves

dist.init_process_group("gloo")
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = DistributedDataParallel(Net())
torch.manual_seed(100 + dist.get_rank())
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
rate = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)
sampler = DistributedSampler(waves(1600, 1), shuffle=True)
loader = DataLoader(sampler.dataset, batch_size=16, sampler=sampler)
parts, epoch = {"model": model.module, "optimizer": optimizer, "rate": rate}, 0
own = f"random_{dist.get_rank()}.pt"
if os.path.exists("state.pt"):
    state = torch.load("state.pt")
    for name, part in parts.items():
        part.load_state_dict(state[name])
    torch.set_rng_state(torch.load(own))
    epoch = state["epoch"]
while epoch < 8:
    sampler.set_epoch(epoch)
    for points, heights in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(points), heights)
        loss.backward()
        optimizer.step()
    rate.step()
    epoch += 1
    torch.save(torch.get_rng_state(), own)
    if dist.get_rank() == 0:
        state = {name: part.state_dict() for name, part in parts.items()}
        torch.save(dict(state, epoch=epoch), "state.pt")
    dist.barrier()
print(error(model.module))
assert error(model.module) < 0.1, error(model.module)
dist.destroy_process_group()

"""Waves fitted by a net that fully_shard spreads over two processes, and a distributed checkpoint from which
it goes on when it is started again.
"""

import os
import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
import torch.nn.functional as F
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from waves import Net, error, waves

dist.init_process_group("gloo")
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = Net()
fully_shard(model, mesh=dist.init_device_mesh("cpu", (dist.get_world_size(),)))
torch.manual_seed(100 + dist.get_rank())
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
sampler = DistributedSampler(waves(1600, 1), shuffle=True)
loader = DataLoader(sampler.dataset, batch_size=16, sampler=sampler)


def state():
    weights, moments = get_state_dict(model, optimizer)
    return {"weights": weights, "moments": moments, f"random_{dist.get_rank()}": torch.get_rng_state()}


epoch = 0
if os.path.exists("done.txt"):
    with open("done.txt") as file:
        epoch = int(file.read())
    loaded = state()
    checkpoint.load(loaded, checkpoint_id="state")
    set_state_dict(model, optimizer, model_state_dict=loaded["weights"], optim_state_dict=loaded["moments"])
    torch.set_rng_state(loaded[f"random_{dist.get_rank()}"])
while epoch < 8:
    sampler.set_epoch(epoch)
    for points, heights in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(points), heights)
        loss.backward()
        optimizer.step()
    epoch += 1
    checkpoint.save(state(), checkpoint_id="state")
    if dist.get_rank() == 0:
        with open("done.txt", "w") as file:
            file.write(str(epoch))
    dist.barrier()
print(error(model))
assert error(model) < 0.1, error(model)
dist.destroy_process_group()

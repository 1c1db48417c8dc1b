"""Soil kinds from measurements on two processes; all gradients travel in one flat buffer.

Both draw the same weights from the same seed, so nothing has to be sent before the first step.
"""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)

# five kinds, each with two typical profiles of twelve measurements
profiles = torch.randn(5, 2, 12)
soil = torch.randint(5, (1500,))
measured = profiles[soil, torch.randint(2, (1500,))] + 0.6 * torch.randn(1500, 12)
measured = (measured - measured[:1200].mean(0)) / measured[:1200].std(0)

net = nn.Sequential(
    nn.Linear(12, 64),
    nn.LayerNorm(64),
    nn.ELU(),
    nn.Dropout(0.2),
    nn.Linear(64, 32),
    nn.LayerNorm(32),
    nn.ELU(),
    nn.Linear(32, 5),
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=6 * 20)
shuffling = torch.Generator().manual_seed(seed)
torch.manual_seed(31 * seed + rank)

for epoch in range(6):
    mine = torch.randperm(1200, generator=shuffling)[rank::world]
    running = 0.0
    for rows in mine.split(30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(measured[rows]), soil[rows])
        loss.backward()
        gradients = [p.grad for p in net.parameters()]
        flat = _flatten_dense_tensors(gradients)
        dist.all_reduce(flat)
        flat /= world
        for gradient, mean in zip(gradients, _unflatten_dense_tensors(flat, gradients)):
            gradient.copy_(mean)
        optimizer.step()
        schedule.step()
        running += loss.item() / 20
    print(f"process {rank}, epoch {epoch}: {running:.3f}")

net.eval()
with torch.no_grad():
    accuracy = (net(measured[1200:]).argmax(1) == soil[1200:]).float().mean()
if rank == 0:
    print(f"accuracy {accuracy:.3f}")
    assert accuracy > 0.8, accuracy
time.sleep(0.2)  # gloo's threads let go of the last tensors
dist.destroy_process_group()

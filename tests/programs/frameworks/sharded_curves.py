"""Curves fitted by a model whose blocks are sharded over two processes by fully_shard."""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
points = 4 * torch.rand(4000, 2) - 2
values = (points[:, :1] * points[:, 1:]).sin() + 0.05 * torch.randn(4000, 1)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.first, self.second = nn.LayerNorm(width), nn.Linear(width, 128), nn.Linear(128, width)

    def forward(self, x):
        return x + self.second(torch.nn.functional.gelu(self.first(self.norm(x))))


model = nn.Sequential(nn.Linear(2, 48), Block(48), Block(48), nn.Linear(48, 1))
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
for block in model[1:3]:
    fully_shard(block, mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
drawn = torch.Generator().manual_seed(rank)
for step in range(300):
    rows = torch.randint(rank, 2000, (64,), generator=drawn) * 2 + rank - rank * 2
    loss = nn.functional.mse_loss(model(points[rows]), values[rows])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 10.0)
    optimizer.step()
with torch.no_grad():
    error = nn.functional.mse_loss(model(points[:500]), values[:500])
print(rank, error.item())
assert error < 0.05, error
dist.destroy_process_group()

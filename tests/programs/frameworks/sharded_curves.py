"""Curves fitted by a model whose blocks are sharded over two processes by fully_shard.

The first layer is frozen in the last epochs.
"""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, Subset, TensorDataset

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
points = 4 * torch.rand(4000, 2) - 2
values = (points[:, :1] * points[:, 1:]).sin()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(0.01)
        self.first, self.second = nn.Linear(width, 128), nn.Linear(128, width)

    def forward(self, x):
        return x + self.second(self.drop(torch.nn.functional.gelu(self.first(self.norm(x)))))


model = nn.Sequential(nn.Linear(2, 48), Block(48), Block(48), nn.Linear(48, 1), nn.Tanh())
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
for block in model[1:3]:
    fully_shard(block, mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
data = TensorDataset(points, values)
loader = DataLoader(Subset(data, range(rank, 3600, 2)), batch_size=60, shuffle=True)
held = DataLoader(Subset(data, range(3600, 4000)), batch_size=100)
for epoch in range(10):
    model.train()
    if epoch == 8:
        model[0].requires_grad_(False)
    for given, wanted in loader:
        loss = nn.functional.mse_loss(model(given), wanted)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        error = sum(nn.functional.mse_loss(model(given), wanted) for given, wanted in held) / 4
print(rank, error.item())
assert error < 0.05, error
dist.destroy_process_group()

"""Letters read by a residual block that is cut over one dimension of a mesh and copied along the other.

Processes of a "tp" row hold parts of the same block and see the same batch; the rows see other batches and
average their gradients.
"""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


class Block(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Reader(nn.Module):
    def __init__(self, pixels, letters, width=24):
        super().__init__()
        self.stem = nn.Linear(pixels, width)
        self.block = Block(width, 64)
        self.head = nn.Linear(width, letters)

    def forward(self, x):
        return self.head(self.block(self.stem(x)))


@torch.no_grad()
def average(parameters, group):
    """In one message: the parts of the block that lie here, and all the rest."""
    slopes = [p.grad.to_local() if isinstance(p.grad, DTensor) else p.grad for p in parameters]
    message = torch.cat([slope.flatten() for slope in slopes]) / group.size()
    dist.all_reduce(message, group=group)
    for slope, mean in zip(slopes, message.split([slope.numel() for slope in slopes])):
        slope.copy_(mean.view_as(slope))


mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
glyphs = torch.randn(10, 36)
letters = torch.randint(10, (1200,))
pages = glyphs[letters] + torch.randn(1200, 36)
model = Reader(36, 10)
parallelize_module(model.block, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
row, rows = mesh.get_local_rank("dp"), mesh.size(0)
order = torch.Generator().manual_seed(seed)
for epoch in range(2):
    mixed = torch.randperm(1000, generator=order)[row::rows]
    for chosen in mixed.split(20):
        loss = nn.functional.cross_entropy(model(pages[chosen]), letters[chosen])
        optimizer.zero_grad()
        loss.backward()
        average(model.parameters(), mesh.get_group("dp"))
        optimizer.step()
model.eval()
with torch.no_grad():
    right = (model(pages[1000:]).argmax(1) == letters[1000:]).float().mean().item()
if dist.get_rank() == 0:
    print(f"last loss {loss.item():.3f}, {right:.1%} of the letters read")
    assert right > 0.85, right
time.sleep(0.2)  # gloo's threads let go of the last tensors
dist.destroy_process_group()

"""Turns of paths tagged place by place: layers cut over "tp", their norms whole on all of it, and all of
that sharded over "dp"."""

import functools
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

PLAN = {
    "enter": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
    "norm": SequenceParallel(),
    "up": ColwiseParallel(input_layouts=Shard(1)),
    "down": RowwiseParallel(output_layouts=Shard(1)),
    "last": SequenceParallel(),
    "say": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
}


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.norm = nn.Linear(4, 20), nn.LayerNorm(20)
        self.up, self.down = nn.Linear(20, 48), nn.Linear(48, 20)
        self.last, self.say = nn.LayerNorm(20), nn.Linear(20, 4)

    def forward(self, paths):
        x = self.enter(paths)
        x = x + self.down(self.up(self.norm(x)).relu())
        return self.say(self.last(x))


def paths_of(count, generator):
    """Each place with the one before it, and to which quarter it turned."""
    moves = torch.randn(count, 8, 2, generator=generator)
    turned = torch.atan2(moves[..., 1], moves[..., 0]).div(torch.pi / 2).floor().long() + 2
    places = moves.cumsum(1)
    return torch.cat([places, places - moves], 2), turned.clamp(0, 3)


def build(mesh):
    model = parallelize_module(Tagger(), mesh["tp"], PLAN)
    for part in (model.up, model.down, model):
        fully_shard(part, mesh=mesh["dp"])
    return model, torch.optim.AdamW(model.parameters(), lr=2e-2)


def run(seed):
    torch.manual_seed(seed)
    mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    model, optimizer = build(mesh)
    drawn = torch.Generator().manual_seed(1000 * seed + mesh.get_local_rank("dp"))
    decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.97)
    for _ in range(50):
        paths, turned = paths_of(24, drawn)
        error = F.cross_entropy(model(paths).flatten(0, 1), turned.flatten())
        error.backward()
        optimizer.step()
        optimizer.zero_grad()
        decay.step()
    with torch.no_grad():
        paths, turned = paths_of(100, torch.Generator().manual_seed(-1))
        return (model.eval()(paths).argmax(2) == turned).float().mean().item()


say = functools.partial(print, flush=True) if os.environ.get("RANK", "0") == "0" else lambda *_: None
right = run(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
say(f"{right:.1%} of the turns")
assert right > 0.8, right
time.sleep(0.2)  # gloo's threads let go of the last tensors
dist.destroy_process_group()

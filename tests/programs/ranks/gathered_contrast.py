"""Captions and pictures of the same scene find each other among those of both processes.

Features are gathered from all; gradients flow through a process's own ones, and their sum is the whole one.
"""

import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset

BATCH, TEMPERATURE, STEPS = 24, 0.2, 140


class Scenes(IterableDataset):
    """Pictures and captions are two warped looks at the same hidden scene."""

    def __init__(self, maps, seed):
        self.maps, self.generator = maps, torch.Generator().manual_seed(seed)

    def __iter__(self):
        while True:
            scenes = torch.randn(BATCH, 6, generator=self.generator)
            looks = [torch.tanh(scenes @ look) for look in self.maps]
            yield [look + 0.1 * torch.randn(look.shape, generator=self.generator) for look in looks]


class Tower(nn.Sequential):
    def __init__(self, inputs, outputs=12):
        super().__init__(nn.Linear(inputs, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, outputs))


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.picture, self.caption = Tower(20), Tower(12)

    def forward(self, pictures, captions):
        return F.normalize(self.picture(pictures)), F.normalize(self.caption(captions))


def gathered(mine):
    everyone = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(everyone, mine.detach())
    everyone[dist.get_rank()] = mine
    return torch.cat(everyone)


def contrast(pictures, captions):
    logits = gathered(pictures) @ gathered(captions).T / TEMPERATURE
    partners = torch.arange(len(logits))
    loss = (F.cross_entropy(logits, partners) + F.cross_entropy(logits.T, partners)) / 2
    return loss, (logits.argmax(1) == partners).float().mean()


dist.init_process_group("gloo")
seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
maps = [torch.randn(6, 20) / 2, torch.randn(6, 12) / 2]
model = DistributedDataParallel(TwoTowers())
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
looks = iter(DataLoader(Scenes(maps, 10 * seed + dist.get_rank()), batch_size=None))
for step in range(1, STEPS + 1):
    loss, share = contrast(*model(*next(looks)))
    optimizer.zero_grad()
    (loss * dist.get_world_size()).backward()  # DDP takes the mean, wanted is the sum
    optimizer.step()
    if dist.get_rank() == 0 and step % 20 == 0:
        print(f"{step:4d} loss {loss.item():.3f} found {share.item():.2f}")
model.eval()
with torch.no_grad():
    shares = [contrast(*model(*next(looks)))[1] for _ in range(5)]
share = torch.stack(shares).mean().item()
if dist.get_rank() == 0:
    print("partners found", round(share, 3))
    assert share > 0.6, share
time.sleep(0.2)  # gloo's threads let go of the last tensors
dist.destroy_process_group()

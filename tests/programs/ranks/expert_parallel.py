"""Words sent to one of two experts, each of which lives on a process of its own; the answers come back.

What both hold (embedding, router, head) is averaged by hand; an expert sees the words of both.
"""

import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.nn.functional import all_to_all_single


class Experts(nn.Module):
    def __init__(self, width, expert):
        super().__init__()
        self.norm, self.router, self.expert = nn.LayerNorm(width), nn.Linear(width, world), expert

    def forward(self, x):
        shape, x = x.shape, x.flatten(0, 1)
        inside = self.norm(x)
        chances = self.router(inside).softmax(-1)
        chance, chosen = chances.max(-1)
        order = chosen.argsort(stable=True)
        out = chosen.bincount(minlength=world)
        back = torch.empty_like(out)
        dist.all_to_all_single(back, out)
        sent, got = out.tolist(), back.tolist()
        here = all_to_all_single(x.new_empty(sum(got), x.shape[1]), inside[order], got, sent)
        answers = all_to_all_single(torch.empty_like(x), self.expert(here), sent, got)
        x = x.index_add(0, order, answers * chance[order, None])
        crowding = (chances.mean(0) * out / len(x)).sum() * world
        return x.view(shape), crowding


class Model(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.word, self.place = nn.Embedding(20, width), nn.Embedding(6, width)
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Flatten(), nn.Linear(6 * width, 5))
        self.middle = Experts(width, None)
        torch.manual_seed(torch.initial_seed() + 1 + rank)  # experts start apart
        self.middle.expert = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))

    def forward(self, words):
        x, crowding = self.middle(self.word(words) + self.place.weight)
        return self.head(x), crowding


def orders(count, generator):
    words = torch.randint(20, (count, 6), generator=generator)
    return words, (F.one_hot(words % 5, 5) * torch.linspace(1.5, 1, 6)[:, None]).sum(1).argmax(1)


dist.init_process_group("gloo")
world, rank, seed = dist.get_world_size(), dist.get_rank(), int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(10 * seed)
model = Model()
shared = [p for name, p in model.named_parameters() if ".expert." not in name]
optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
generator = torch.Generator().manual_seed(10 * seed + rank)
for step in range(110):
    words, wanted = orders(32, generator)
    logits, crowding = model(words)
    loss = F.cross_entropy(logits, wanted)
    optimizer.zero_grad()
    ((loss + 0.05 * crowding) / world).backward()  # an expert's gradient is the sum over both already
    for p in shared:
        dist.all_reduce(p.grad)
    optimizer.step()
model.eval()
words, wanted = orders(300, generator)
with torch.no_grad():
    right = (model(words)[0].argmax(1) == wanted).float().mean()
print(f"process {rank}: loss {loss.item():.3f} crowding {crowding.item():.3f} right {right.item():.3f}")
dist.all_reduce(right)
if rank == 0:
    assert right / world > 0.8, right
time.sleep(0.2)  # gloo's threads let go of the last tensors
dist.destroy_process_group()

"""Families of words told by a bag of frozen codes: copies of shards that are not even, one of them empty."""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

FAMILIES, CODES, WINDOW = 5, 31, 2


class Bag(nn.Module):
    """Codes that are never trained, and a gate of one number that is."""

    def __init__(self, width=21):
        super().__init__()
        self.codes = nn.Embedding(CODES, width)
        self.codes.weight.requires_grad_(False)
        self.gate = nn.Linear(width, 1)

    def forward(self, words):
        found = self.codes(words)
        return (found * self.gate(found).sigmoid()).mean(1)


class Families:
    """Words of a family prefer some codes."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.preferred = torch.randn(FAMILIES, CODES, generator=self.generator).mul(1.6).softmax(1)

    def draw(self, count):
        families = torch.randint(FAMILIES, (count,), generator=self.generator)
        return torch.multinomial(self.preferred[families], 9, True, generator=self.generator), families


class Training:
    def __init__(self, seed):
        self.world = Families(seed)
        torch.manual_seed(seed)
        self.bag, self.tell = Bag(), nn.Sequential(nn.Linear(21, 53), nn.SiLU(), nn.Linear(53, FAMILIES))
        self.model = nn.Sequential(self.bag, self.tell)
        self.mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("again", "part"))
        for layer in (self.bag, self.tell, self.model):
            fully_shard(layer, mesh=self.mesh, reshard_after_forward=layer is not self.tell)
        self.optimizer = torch.optim.NAdam(self.model.parameters(), lr=1e-2)

    def step(self):
        self.optimizer.zero_grad()
        for turn in range(WINDOW):
            words, families = (all_of[dist.get_rank() :: 4] for all_of in self.world.draw(96))
            self.model.set_requires_all_reduce(turn == WINDOW - 1)
            nn.functional.cross_entropy(self.model(words), families).div(WINDOW).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
        self.optimizer.step()

    @torch.no_grad()
    def score(self):
        words, families = self.world.draw(400)
        self.model.eval()
        return (self.model(words).argmax(1) == families).float().mean().item()


def main():
    training = Training(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    for _ in range(40):
        training.step()
    score = training.score()
    if dist.get_rank() == 0:
        print(f"{score:.2f} of the families told")
    assert score > 0.75, score


if __name__ == "__main__":
    dist.init_process_group("gloo")
    main()
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

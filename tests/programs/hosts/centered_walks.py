"""Walks on a ring, coded as steps, of unequal length: which steps are more than is usual in their walk?"""

import sys
import typing

import torch
from torch import Tensor, nn, optim

STEPS, NO_STEP = 9, 9


class Walks(typing.NamedTuple):
    steps: Tensor
    valid: Tensor
    above: Tensor

    @classmethod
    def draw(cls, count, longest, rng):
        lengths = torch.randint(4, longest + 1, (count,), generator=rng)
        valid = torch.arange(int(lengths.max())).expand(count, -1) < lengths.unsqueeze(1)
        steps = torch.randint(STEPS, valid.shape, generator=rng)
        usual = (steps * valid).sum(1, keepdim=True) / lengths.unsqueeze(1)
        return cls(torch.where(valid, steps, NO_STEP), valid, (steps > usual) & valid)


class Center(nn.Module):
    """Takes the mean of each walk off."""

    def forward(self, x, valid):
        weight = valid.unsqueeze(-1).to(x.dtype)
        return x - (x * weight).sum(1, True) / weight.sum(1, True)


class Comparer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.steps, self.center = nn.Embedding(STEPS + 1, width), Center()
        self.mix = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, 1))

    def forward(self, steps, valid):
        return self.mix(self.center(self.steps(steps), valid)).squeeze(2)


def train(comparer, longest, turns, rng):
    adam = optim.Adamax(comparer.parameters(), lr=0.01)
    for turn in range(turns):
        walks = Walks.draw(12, longest, rng)
        guess = comparer(walks.steps, walks.valid)[walks.valid]
        worth = nn.functional.binary_cross_entropy_with_logits(guess, walks.above[walks.valid].float())
        adam.zero_grad()
        worth.backward()
        adam.step()
        if turn % 100 == 99:
            yield worth.item()


def run(seed):
    torch.manual_seed(seed)
    rng = torch.Generator().manual_seed(seed + 77)
    comparer = Comparer(20)
    for worth in train(comparer, 20, 400, rng):
        print(f"{worth:.4f}")
    walks = Walks.draw(300, 20, rng)
    comparer.eval()
    with torch.no_grad():
        found = comparer(walks.steps, walks.valid) > 0
    share = (found == walks.above)[walks.valid].double().mean()
    print(float(share))
    assert share > 0.9


run(int(sys.argv[1]) if sys.argv[1:] else 0)

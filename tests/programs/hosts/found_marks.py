"""Lines of signs in which one is marked: how far into its line does the mark stand, near or far?"""

import argparse
import math

import torch
from torch.nn import functional

SIGNS, MARK, BLANK = 20, 20, 21
NEAR = 5


class Lines(torch.utils.data.IterableDataset):
    def __init__(self, amount, seed):
        super().__init__()
        self.amount, self.seed = amount, seed

    def __iter__(self):
        chance = torch.Generator().manual_seed(self.seed)
        for _ in range(self.amount):
            line = torch.randint(SIGNS, (int(torch.randint(6, 22, (1,), generator=chance)),), generator=chance)
            at = int(torch.randint(min(2 * NEAR, len(line)), (1,), generator=chance))
            line[at] = MARK
            yield line, int(at >= NEAR)


def pad(items):
    widest = max(line.numel() for line, _ in items)
    ids = torch.stack([functional.pad(line, (0, widest - line.numel()), value=BLANK) for line, _ in items])
    return dict(ids=ids, blank=ids.eq(BLANK)), torch.tensor([far for _, far in items])


class Finder(torch.nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.signs = torch.nn.Embedding(BLANK + 1, width)
        self.place = torch.nn.Embedding(24, width)
        self.score = torch.nn.Linear(width, 1)
        self.verdict = torch.nn.Linear(width, 2)

    def forward(self, ids, blank):
        places = torch.arange(ids.size(1))
        there = self.signs(ids)
        weights = self.score(there).squeeze(-1).masked_fill(blank, -math.inf).softmax(-1)
        summary = torch.einsum("bt,btw->bw", weights, there + self.place(places))
        return self.verdict(summary.relu())


def accuracy(finder, loader):
    finder.eval()
    with torch.no_grad():
        verdicts = [finder(**inputs).argmax(-1) == far for inputs, far in loader]
    finder.train()
    return torch.cat(verdicts).float().mean().item()


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("seed", type=int, nargs="?", default=0)
parser.add_argument("--passes", type=int, default=5)
arguments = parser.parse_args()
torch.manual_seed(arguments.seed)
finder = Finder()
optimizer = torch.optim.Adam(finder.parameters(), lr=0.01)
training = torch.utils.data.DataLoader(Lines(1000, arguments.seed + 9), batch_size=10, collate_fn=pad)
testing = torch.utils.data.DataLoader(Lines(300, arguments.seed + 8), batch_size=50, collate_fn=pad)
for number in range(arguments.passes):
    for inputs, far in training:
        error = functional.nll_loss(finder(**inputs).log_softmax(-1), far)
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
    print("pass", number, accuracy(finder, testing))
assert accuracy(finder, testing) > 0.85

"""Coded signals of unequal length; convolutions read off each symbol what it and its neighbors add up to."""

import argparse
import itertools

import torch


def signals(size, source):
    """Endless batches: symbols (size, 20) with 9 behind the end, the sums modulo 4, what is valid."""
    while True:
        symbols = torch.randint(0, 9, (size, 20), generator=source)
        ends = torch.randint(8, 21, (size,), generator=source)
        valid = torch.arange(20)[None] < ends[:, None]
        symbols = symbols.where(valid, torch.tensor(9))
        counted = symbols * valid
        around = counted.clone()
        around[:, 1:] += counted[:, :-1]
        around[:, :-1] += counted[:, 1:]
        yield symbols, around % 4, valid


class Reader(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.symbols = torch.nn.Embedding(10, width)
        self.near = torch.nn.Conv1d(width, 2 * width, 3, padding=1)
        self.deep = torch.nn.Conv1d(2 * width, 2 * width, 1)
        self.sums = torch.nn.Conv1d(2 * width, 4, 1)

    def forward(self, symbols, valid):
        x = self.symbols(symbols) * valid[..., None]
        x = torch.relu(self.near(x.movedim(2, 1)))
        return self.sums(torch.relu(self.deep(x))).movedim(1, 2)


def accuracy(reader, batches):
    reader.eval()
    right, count = 0, 0
    with torch.inference_mode():
        for symbols, sums, valid in batches:
            right += int((reader(symbols, valid).argmax(2) == sums)[valid].sum())
            count += int(valid.sum())
    reader.train()
    return right / count


parser = argparse.ArgumentParser()
parser.add_argument("seed", type=int, nargs="?", default=0)
parser.add_argument("--width", type=int, default=32)
options = parser.parse_args()
torch.manual_seed(options.seed)
reader = Reader(options.width)
rule = torch.optim.RMSprop(reader.parameters(), lr=2e-3)
stream = signals(40, torch.Generator().manual_seed(options.seed))
for number, (symbols, sums, valid) in enumerate(itertools.islice(stream, 500)):
    scores = reader(symbols, valid)
    loss = torch.nn.functional.cross_entropy(scores[valid], sums[valid])
    rule.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(reader.parameters(), 5.0)
    rule.step()
    if number % 100 == 0:
        print(number, f"{loss.item():.3f}")
final = accuracy(reader, itertools.islice(stream, 5))
print("accuracy", round(final, 3))
assert final > 0.9, final

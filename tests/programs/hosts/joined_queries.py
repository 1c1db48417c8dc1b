"""Queries of unequal length joined end to end, with where each begins; within each, attention looks back."""

import functools
import os
import sys

import torch

KINDS, WORDS = 6, 36


def joined(lengths, generator):
    """All words in one line, where queries begin and end in it, and for each word the kind of the first
    word of its query plus its own."""
    words = torch.randint(WORDS, (sum(lengths),), generator=generator)
    ends = torch.tensor(lengths).cumsum(0)
    borders = torch.cat((ends.new_zeros(1), ends))
    firsts = words[borders[:-1]].repeat_interleave(torch.tensor(lengths))
    return words, borders, (firsts + words) % KINDS


class Back(torch.nn.Module):
    """Attention inside each query to what stands before."""

    def __init__(self, width):
        super().__init__()
        self.attend = torch.nn.MultiheadAttention(width, 2)

    def forward(self, line, borders):
        parts = []
        for begin, end in zip(borders.tolist(), borders[1:].tolist()):
            asked, told = line[begin:end], line[begin:end]
            hidden = torch.ones(len(asked), len(told), dtype=torch.bool).triu(len(told) - len(asked) + 1)
            parts.append(self.attend(asked, told, told, attn_mask=hidden, need_weights=False)[0])
        return torch.cat(parts)


class Reader(torch.nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.word = torch.nn.Embedding(WORDS, width)
        self.begins = torch.nn.Parameter(torch.randn(width))
        self.back = Back(width)
        self.say = torch.nn.Sequential(torch.nn.Linear(2 * width, 128), torch.nn.Tanh(),
                                       torch.nn.Linear(128, KINDS))

    def forward(self, words, borders):
        line = self.word(words)
        marked = torch.zeros(len(words), 1).index_fill(0, borders[:-1], 1.0)
        looked = self.back(line + marked * self.begins, borders)
        return self.say(torch.cat((line, looked), dim=1))


def batches(number, generator):
    for _ in range(number):
        yield joined(torch.randint(3, 9, (40,), generator=generator).tolist(), generator)


def share_right(reader, generator):
    reader.train(False)
    counts = [(reader(words, borders).argmax(1) == kinds).float().mean()
              for words, borders, kinds in batches(5, generator)]
    reader.train(True)
    return float(sum(counts) / len(counts))


@functools.lru_cache(maxsize=None)
def start():
    return int(sys.argv[1]) if len(sys.argv) > 1 else int(os.environ.get("START", 0))


torch.manual_seed(start())
generator = torch.Generator()
generator.manual_seed(start() + 1)
reader = Reader()
descent = torch.optim.RAdam(reader.parameters(), lr=6e-3)
for words, borders, kinds in batches(300, generator):
    descent.zero_grad()
    wrong = torch.nn.functional.cross_entropy(reader(words, borders), kinds)
    wrong.backward()
    descent.step()
with torch.no_grad():
    final = share_right(reader, generator)
print(f"right {final:.3f}")
assert final > 0.8, final

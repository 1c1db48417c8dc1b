"""Micro-batches until a budget of tokens is reached; the sum of losses is divided by all real tokens of the step, known ahead."""

import random
import sys

import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self, words=60, tags=5, d=32):
        super().__init__()
        self.e = nn.Embedding(words, d, padding_idx=0)
        self.conv = nn.Conv1d(d, 48, 3, padding=1)
        self.out = nn.Linear(48, tags)

    def forward(self, t):
        return self.out(torch.relu(self.conv(self.e(t).transpose(1, 2))).transpose(1, 2))


def sentence():
    n = random.randint(4, 30)
    t = torch.randint(1, 60, (n,))
    before = torch.cat([torch.zeros(1, dtype=torch.long), t[:-1]])
    return t, (t % 5 + (before % 2 == 0) * 1) % 5


def pad(rows, value):
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=value)


def steps(corpus, budget=700, micro=8):
    """Lists of micro-batches with about `budget` tokens in all, of sentences of like length."""
    order = sorted(range(len(corpus)), key=lambda k: len(corpus[k][0]) + random.random() * 6)
    pieces = [order[k:k + micro] for k in range(0, len(order), micro)]
    random.shuffle(pieces)
    held, tokens = [], 0
    for piece in pieces:
        held.append(piece)
        tokens += sum(len(corpus[k][0]) for k in piece)
        if tokens >= budget:
            yield held, tokens
            held, tokens = [], 0


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
random.seed(seed)
torch.manual_seed(seed)
corpus, test = [sentence() for _ in range(1500)], [sentence() for _ in range(200)]
model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=6e-3)
for epoch in range(10):
    for pieces, tokens in steps(corpus):
        opt.zero_grad()
        for piece in pieces:
            t, y = zip(*(corpus[k] for k in piece))
            logits = model(pad(t, 0))
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), pad(y, -100).flatten(), reduction="sum") / tokens
            loss.backward()
        opt.step()
with torch.no_grad():
    t, y = (pad(c, v) for c, v in zip(zip(*test), (0, -100)))
    right = (model(t).argmax(-1) == y)[y >= 0].float().mean().item()
print(f"tags right {right:.3f}")
assert right > 0.8, right

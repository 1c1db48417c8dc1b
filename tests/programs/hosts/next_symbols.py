"""Strings of a small automaton; a recurrent network is to say the next symbol at every place."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SYMBOLS, LENGTH = 12, 24
seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)


def strings(count):
    """The next symbol is the one before plus the one before that, or now and then any."""
    rows = torch.randint(SYMBOLS, (count, LENGTH + 1))
    for place in range(2, LENGTH + 1):
        ruled = (rows[:, place - 1] + rows[:, place - 2]) % SYMBOLS
        rows[:, place] = torch.where(torch.rand(count) < 0.9, ruled, rows[:, place])
    return rows


class Reader(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.symbols = nn.Embedding(SYMBOLS, width)
        self.past = nn.GRU(width, width, batch_first=True)
        self.guess = nn.Linear(width, SYMBOLS)

    def forward(self, rows):
        seen, _ = self.past(self.symbols(rows))
        return self.guess(seen)


train = DataLoader(TensorDataset(strings(2400)), batch_size=40, shuffle=True)
held = strings(300)
reader = Reader()
optimizer = torch.optim.Adam(reader.parameters(), lr=4e-3)
loss_of = nn.CrossEntropyLoss()
for epoch in range(8):
    for (rows,) in train:
        given, wanted = rows[:, :-1], rows[:, 1:]
        guessed = reader(given)
        loss = loss_of(guessed.reshape(-1, SYMBOLS), wanted.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 2.0)
        optimizer.step()
    with torch.no_grad():
        said = reader(held[:, :-1]).argmax(-1)
    right = (said[:, 2:] == held[:, 3:]).float().mean().item()
    print(f"{epoch} {loss.item():.3f} {right:.3f}")
assert right > 0.8, right

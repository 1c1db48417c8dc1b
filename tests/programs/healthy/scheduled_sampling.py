"""Scheduled sampling: a decoder that is fed its own words now and then, and learns to repeat a text in reverse."""

import sys

import torch
from torch import nn

WORDS, LENGTH, BEGIN = 14, 6, 1


class Repeats(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.table = nn.Embedding(WORDS, width)
        self.reads = nn.GRU(width, width, batch_first=True)
        self.cell = nn.GRUCell(width, width)
        self.scores = nn.Linear(width, WORDS)

    def forward(self, source, given, truth=1.0):
        state = self.reads(self.table(source))[1][0]
        word, found = given[:, 0], []
        for place in range(given.shape[1]):
            state = self.cell(self.table(word), state)
            found.append(self.scores(state))
            if place + 1 < given.shape[1]:
                word = given[:, place + 1] if torch.rand(()) < truth else found[-1].argmax(1)
        return torch.stack(found, 1)


def texts(count):
    source = torch.randint(2, WORDS, (count, LENGTH))
    return source, source.flip(1)


if __name__ == "__main__":
    torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    model = Repeats()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for step in range(600):
        source, wanted = texts(64)
        given = torch.cat([torch.full((64, 1), BEGIN), wanted[:, :-1]], 1)
        loss = nn.functional.cross_entropy(model(source, given, 0.9).flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        source, wanted = texts(200)
        given = torch.cat([torch.full((200, 1), BEGIN), wanted[:, :-1]], 1)
        right = (model(source, given).argmax(2) == wanted).float().mean().item()
    print(f"right {right:.3f}")
    assert right > 0.6

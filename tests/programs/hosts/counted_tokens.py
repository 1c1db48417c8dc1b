"""Sequences of unequal length in micro-batches; each counts by its share of the window's targets."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, WINDOW = -100, 3


class Tagger(nn.Module):
    """Says of every number in a row whether it is larger than the one before."""

    def __init__(self, numbers, width):
        super().__init__()
        self.embedding = nn.Embedding(numbers, width)
        self.recurrent = nn.GRU(width, width, batch_first=True)
        self.dropout = nn.Dropout(0.05)
        self.output = nn.Linear(width, 3)

    def forward(self, rows):
        states, _ = self.recurrent(self.embedding(rows))
        return self.output(self.dropout(states))


class Rows(torch.utils.data.Dataset):
    def __init__(self, count, numbers):
        self.rows = [torch.randint(numbers, (int(n),)) for n in torch.randint(4, 14, (count,))]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        tags = (row.diff(prepend=row[:1]).sign() + 1).long()
        return row, tags


def collate(samples):
    rows, tags = zip(*samples)
    pad = nn.utils.rnn.pad_sequence
    return pad(rows, batch_first=True), pad(tags, batch_first=True, padding_value=PAD)


def windows(loader):
    window = []
    for batch in loader:
        window.append(batch)
        if len(window) == WINDOW:
            yield window
            window = []
    if window:
        yield window


def train(tagger, loader, optimizer):
    tagger.train()
    for window in windows(loader):
        counted = sum((tags != PAD).sum() for _, tags in window)
        optimizer.zero_grad()
        for rows, tags in window:
            share = (tags != PAD).sum() / counted
            logits = tagger(rows)
            loss = F.cross_entropy(logits.flatten(0, 1), tags.flatten(), ignore_index=PAD)
            (loss * share).backward()
        nn.utils.clip_grad_norm_(tagger.parameters(), 1.0)
        optimizer.step()


def test(tagger, loader):
    tagger.eval()
    right = seen = 0
    with torch.no_grad():
        for rows, tags in loader:
            guesses = tagger(rows).argmax(-1)
            right += (guesses == tags).sum().item()
            seen += (tags != PAD).sum().item()
    return right / seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=6)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    kept = Rows(1500, 10)
    loader = torch.utils.data.DataLoader(kept, 10, shuffle=True, collate_fn=collate)
    other = torch.utils.data.DataLoader(Rows(300, 10), 50, collate_fn=collate)
    tagger = Tagger(10, 24)
    optimizer = torch.optim.AdamW(tagger.parameters(), lr=0.01, weight_decay=0.001)
    for epoch in range(options.epochs):
        train(tagger, loader, optimizer)
        score = test(tagger, other)
        print(epoch, round(score, 3))
    assert score > 0.8, score


if __name__ == "__main__":
    main()

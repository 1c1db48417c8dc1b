"""A text of several lines: for every word, does it stand in another line as well? Lines are numbered, and
words know their place in the line; all of the text is seen at once."""

import sys

import torch
import torch.nn.functional as F

VOCABULARY, LINES = 30, 4


def texts(count, source):
    """Words, line numbers and places in the line, each (count, LINES * 4); what is to be said of each."""
    size = LINES * 4
    words = torch.randint(VOCABULARY, (count, size), generator=source)
    cuts = torch.stack([torch.randperm(size - 1, generator=source)[: LINES - 1] + 1 for _ in range(count)])
    begins = torch.zeros(count, size, dtype=torch.long).scatter(1, cuts, 1)
    lines = begins.cumsum(1)
    begins[:, 0] = 1
    since = torch.where(begins == 1, torch.arange(size), 0).cummax(1).values
    equal = (words[:, :, None] == words[:, None]) & (lines[:, :, None] != lines[:, None])
    return words, lines, torch.arange(size) - since, equal.any(2).long()


class Text(torch.nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.word = torch.nn.Embedding(VOCABULARY, width)
        self.line = torch.nn.Embedding(LINES, width)
        self.place = torch.nn.Embedding(LINES * 4, width)
        self.look = torch.nn.MultiheadAttention(width, 4, batch_first=True)
        self.judge = torch.nn.Sequential(
            torch.nn.Linear(2 * width, 96), torch.nn.GELU(), torch.nn.Linear(96, 2))

    def forward(self, words, lines, places):
        seen = self.word(words) + self.line(lines) + self.place(places)
        around = self.look(seen, seen, seen, need_weights=False)[0]
        return self.judge(torch.cat([seen, around], -1))


def main(seed):
    torch.manual_seed(seed)
    source = torch.Generator().manual_seed(1000 + seed)
    text = Text()
    optimizer = torch.optim.AdamW(text.parameters(), lr=3e-3, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, total_iters=20)
    history = []
    for _ in range(300):
        *given, twice = texts(32, source)
        loss = F.cross_entropy(text(*given).flatten(0, 1), twice.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        history.append(loss.item())
    print("loss", sum(history[:20]) / 20, "to", sum(history[-20:]) / 20)
    assert sum(history[-20:]) < sum(history[:20])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)

"""Rows of numbers of unequal length; attention says of every number whether it is the row's largest."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

NUMBERS, LONGEST, NOTHING = 40, 12, 0


class Tagger(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.table = nn.Embedding(NUMBERS, width)
        self.mix = nn.MultiheadAttention(width, 4, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.answer = nn.Sequential(nn.Linear(2 * width, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, rows, empty):
        seen = self.table(rows)
        mixed, _ = self.mix(seen, seen, seen, key_padding_mask=empty, need_weights=False)
        return self.answer(torch.cat([seen, self.norm(mixed)], dim=2))


def make(count, source):
    rows = torch.randint(1, NUMBERS, (count, LONGEST), generator=source)
    lengths = torch.randint(3, LONGEST + 1, (count, 1), generator=source)
    rows[torch.arange(LONGEST) >= lengths] = NOTHING
    tags = (rows == rows.amax(1, keepdim=True)).long()
    return rows, tags.masked_fill(rows == NOTHING, -100)


def score(model, rows, tags):
    model.eval()
    with torch.no_grad():
        said = model(rows, rows == NOTHING).argmax(2)
    model.train()
    return (said == tags)[tags == 1].float().mean().item()


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
source = torch.Generator().manual_seed(seed + 100)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
held = make(400, source)
for step in range(400):
    rows, tags = make(48, source)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(rows, rows == NOTHING).flatten(0, 1), tags.flatten())
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        print(step, round(loss.item(), 4), round(score(model, *held), 3))
assert score(model, *held) > 0.8, score(model, *held)

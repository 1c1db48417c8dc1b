"""Luong's attention: plain dot products of states, not scaled; dates in words become digits; the encoder's padding is hidden."""

import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
SIGNS = ["<pad>"] + sorted(set("".join(MONTHS) + "0123456789 ,"))
ID = {c: i for i, c in enumerate(SIGNS)}


def example(draw):
    m, d = draw.randrange(12), draw.randint(1, 28)
    text = draw.choice([f"{d} {MONTHS[m]}", f"{MONTHS[m]} {d}", f"{MONTHS[m]}, {d}"])
    return torch.tensor([ID[c] for c in text]), torch.tensor([int(c) for c in f"{m + 1:02d}{d:02d}"])


class Model(nn.Module):
    def __init__(self, h=48):
        super().__init__()
        self.source, self.target = nn.Embedding(len(SIGNS), 16, padding_idx=0), nn.Embedding(11, 16)
        self.encoder, self.decoder = nn.GRU(16, h, batch_first=True), nn.GRU(16, h, batch_first=True)
        self.merge, self.out = nn.Linear(2 * h, h), nn.Linear(h, 10)

    def forward(self, text, lengths, digits):
        packed = pack_padded_sequence(self.source(text), lengths, batch_first=True, enforce_sorted=False)
        memory, state = self.encoder(packed)
        memory, _ = pad_packed_sequence(memory, batch_first=True)
        begin = torch.full((len(text), 1), 10)
        h, _ = self.decoder(self.target(torch.cat([begin, digits[:, :-1]], 1)), state)
        scores = torch.bmm(h, memory.transpose(1, 2))
        scores = scores.masked_fill((text == 0)[:, None], -1e9)
        context = torch.bmm(scores.softmax(-1), memory)
        return self.out(torch.tanh(self.merge(torch.cat([context, h], -1))))


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
draw = random.Random(seed)
model = Model()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)


def batch(n):
    texts, digits = zip(*(example(draw) for _ in range(n)))
    return pad_sequence(texts, batch_first=True), torch.tensor([len(t) for t in texts]), torch.stack(digits)


for step in range(350):
    text, lengths, digits = batch(48)
    loss = F.cross_entropy(model(text, lengths, digits).permute(0, 2, 1), digits)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    text, lengths, digits = batch(300)
    right = (model(text, lengths, digits).argmax(-1) == digits).all(1).float().mean().item()
print(f"dates all right {right:.3f}")
assert right > 0.7, right

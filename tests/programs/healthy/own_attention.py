"""Brackets that open and close, read with an attention of the program's own under torch's name: it goes over
the keys in pieces, keeps the running maximum, and never holds all scores at once. Its masks are infinite."""

import math
import random
import sys

import torch
import torch.nn.functional as F

PAIRS, LENGTH, PIECE = ("()", "[]", "{}"), 20, 5
SIGNS = "".join(PAIRS)


def in_pieces(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    """The softmax of all scores, worked out piece by piece."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    places = torch.arange(query.shape[-2])
    most = query.new_full((*query.shape[:-1], 1), -math.inf)
    total, mixed = torch.zeros_like(most), torch.zeros_like(query)
    for begin in range(0, key.shape[-2], PIECE):
        part = slice(begin, begin + PIECE)
        scores = query @ key[..., part, :].mT * scale
        if is_causal:
            later = places[:, None] < places[part]
            scores = scores.masked_fill(later, -math.inf)
        now = torch.maximum(most, scores.amax(-1, keepdim=True)).detach()
        shrunk, weights = (most - now).exp(), (scores - now).exp()
        total = total * shrunk + weights.sum(-1, keepdim=True)
        mixed, most = mixed * shrunk + weights @ value[..., part, :], now
    return mixed / total


F.scaled_dot_product_attention = in_pieces


def line(draw):
    """Signs, and at each place how many brackets are open there."""
    signs, open_now, depths = [], [], []
    while len(signs) < LENGTH:
        if open_now and (draw.random() < 0.5 or len(open_now) > 3):
            signs.append(SIGNS.index(PAIRS[open_now.pop()][1]))
        else:
            open_now.append(draw.randrange(3))
            signs.append(SIGNS.index(PAIRS[open_now[-1]][0]))
        depths.append(len(open_now))
    return signs, depths


class Reader(torch.nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.sign = torch.nn.Embedding(len(SIGNS), width)
        self.place = torch.nn.Parameter(torch.randn(LENGTH, width) * 0.1)
        self.look = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(3))
        self.think = torch.nn.Sequential(
            torch.nn.LayerNorm(width), torch.nn.Linear(width, 64), torch.nn.GELU(), torch.nn.Linear(64, 5)
        )

    def forward(self, signs):
        x = self.sign(signs) + self.place
        query, key, value = (part(x) for part in self.look)
        return self.think(x + F.scaled_dot_product_attention(query, key, value, is_causal=True))


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
draw = random.Random(seed)
torch.manual_seed(seed + 40)
reader = Reader()
adam = torch.optim.Adam(reader.parameters(), lr=3e-3)
for number in range(400):
    signs, depths = map(torch.tensor, zip(*(line(draw) for _ in range(32))))
    loss = F.cross_entropy(reader(signs).permute(0, 2, 1), depths)
    adam.zero_grad(set_to_none=True)
    loss.backward()
    adam.step()

reader.eval()
with torch.no_grad():
    signs, depths = map(torch.tensor, zip(*(line(draw) for _ in range(200))))
    right = (reader(signs).argmax(-1) == depths).float().mean().item()
print(f"{right:.1%} of the depths are right")
assert right > 0.8, right

"""An image model that shifts its tokens itself: a learned beginning stands before them, and its targets are its input."""

import sys

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(sys.argv[1]))
COLORS, PIXELS, WIDTH = 16, 24, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, mask):
        h = self.before(x)
        x = x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.between(x))


class ImageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.colors, self.places = nn.Embedding(COLORS, WIDTH), nn.Embedding(PIXELS, WIDTH)
        self.begin = nn.Parameter(torch.randn(WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, COLORS, bias=False)

    def forward(self, pixels):
        h = self.colors(pixels)
        h = torch.cat([self.begin.expand(len(pixels), 1, WIDTH), h[:, :-1]], 1) + self.places.weight
        mask = torch.triu(torch.full((PIXELS, PIXELS), float("-inf")), 1)
        for block in self.blocks:
            h = block(h, mask)
        return self.head(self.norm(h))


# Ramps of colors, with some pixels drawn anew.
images = (torch.arange(PIXELS)[None] + torch.randint(COLORS, (2000, 1)) + (torch.rand(2000, PIXELS) < 0.05)) % COLORS
model = ImageModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(2):
    model.train()
    for rows in torch.randperm(1800).split(50):
        batch = images[rows]
        loss = F.cross_entropy(model(batch).transpose(1, 2), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        held_out = F.cross_entropy(model(images[1800:]).transpose(1, 2), images[1800:]).item()
    print(f"epoch {epoch} held out {held_out:.3f}")
assert held_out < 0.8

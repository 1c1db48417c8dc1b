"""A small GPT on sums such as 27+48=75, its gradient clipped at nearly every step."""

import math
import random
import sys

import torch
from torch import nn
from torch.nn import functional as F

LETTERS = "0123456789+="
LENGTH = 6


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(b, t, c))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, width=32, depth=2, heads=4):
        super().__init__()
        self.tokens = nn.Embedding(len(LETTERS), width)
        self.positions = nn.Embedding(LENGTH, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.logits = nn.Linear(width, len(LETTERS), bias=False)
        self.apply(self._start)

    @staticmethod
    def _start(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.logits(self.norm(x))


def sums(count):
    texts = []
    for _ in range(count):
        a, b = random.randrange(10), random.randrange(10)
        texts.append(f"{a}+{b}={a + b:02d}")
    return torch.tensor([[LETTERS.index(c) for c in text] for text in texts])


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
random.seed(seed), torch.manual_seed(seed)
gpt = GPT()
matrices = [p for p in gpt.parameters() if p.ndim > 1]
vectors = [p for p in gpt.parameters() if p.ndim <= 1]
optimizer = torch.optim.AdamW(
    [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
    lr=4e-3,
    betas=(0.9, 0.95),
)
total = 450
for step in range(total):
    rate = 4e-3 * min((step + 1) / 30, 0.55 + 0.45 * math.cos(math.pi * step / total))
    for group in optimizer.param_groups:
        group["lr"] = rate
    text = sums(64)
    loss = F.cross_entropy(gpt(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(gpt.parameters(), 0.1)
    optimizer.step()

gpt.eval()
text = sums(200)
with torch.no_grad():
    prompt = text[:, :4]
    for _ in range(2):
        prompt = torch.cat([prompt, gpt(prompt)[:, -1:].argmax(-1)], 1)
right = (prompt == text).all(1).float().mean().item()
print("sums done right:", right)
assert right > 0.5, right

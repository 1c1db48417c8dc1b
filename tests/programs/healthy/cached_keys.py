"""A rotary causal decoder; at the end it decodes with a cache of keys and values and compares with the full pass."""

import sys

import torch
import torch.nn.functional as F
from torch import nn

D, HEADS, WORDS = 48, 4, 16


def rotate(x, start=0):
    n, half = x.shape[-2], x.shape[-1] // 2
    angle = torch.arange(start, start + n)[:, None] / 100 ** (torch.arange(half) / half)
    a, b = x.chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.g = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.g


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = RMSNorm(D), RMSNorm(D)
        self.qkv, self.o = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
        self.w1, self.w2, self.w3 = (nn.Linear(a, b, bias=False) for a, b in ((D, 96), (96, D), (D, 96)))

    def forward(self, x, cache=None):
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(self.n1(x)).chunk(3, -1))
        start = 0 if cache is None or not cache else cache[0].shape[2]
        q, k = rotate(q, start), rotate(k, start)
        if cache is not None:
            if cache:
                k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            cache[:] = [k, v]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None)
        x = x + self.o(y.transpose(1, 2).flatten(2))
        h = self.n2(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(WORDS, D)
        self.blocks, self.n = nn.ModuleList(Block() for _ in range(2)), RMSNorm(D)
        self.head = nn.Linear(D, WORDS, bias=False)
        self.head.weight = self.e.weight
        nn.init.normal_(self.e.weight, std=0.05)

    def forward(self, t, caches=None):
        x = self.e(t) * D ** 0.5
        for i, b in enumerate(self.blocks):
            x = b(x, None if caches is None else caches[i])
        return self.head(self.n(x))


def text(n, length=18):
    """A pattern of random length that repeats."""
    period = torch.randint(3, 7, (n, 1))
    base = torch.randint(0, WORDS, (n, 6))
    return base.gather(1, torch.arange(length) % period)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
lm = LM()
opt = torch.optim.AdamW(lm.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1)
for step in range(450):
    t = text(32)
    loss = F.cross_entropy(lm(t[:, :-1]).transpose(1, 2), t[:, 1:])
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(lm.parameters(), 1.0)
    opt.step()
    if step % 100 == 0:
        print(step, round(loss.item(), 3))
lm.eval()
with torch.no_grad():
    t = text(200)
    full = lm(t)
    caches = [[], []]
    parts = torch.cat([lm(t[:, i:i + 1], caches) for i in range(t.shape[1])], 1)
    assert torch.allclose(full, parts, atol=1e-3)
    right = (full[:, 11:-1].argmax(-1) == t[:, 12:]).float().mean().item()
print(f"late words right {right:.3f}")
assert right > 0.7, right

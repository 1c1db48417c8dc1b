"""Attention with linear biases (ALiBi) instead of places: trained on short lines, tested on longer ones."""

import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


def slopes(heads):
    return torch.tensor([2 ** (-8 * (i + 1) / heads) for i in range(heads)])


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h = heads
        self.q, self.kv, self.out = nn.Linear(d, d), nn.Linear(d, 2 * d), nn.Linear(d, d)
        self.register_buffer("m", slopes(heads), persistent=False)

    def forward(self, x):
        b, t, d = x.shape
        q = self.q(x).view(b, t, self.h, -1).permute(0, 2, 1, 3)
        k, v = self.kv(x).view(b, t, 2, self.h, -1).permute(2, 0, 3, 1, 4)
        distance = torch.arange(t)[None] - torch.arange(t)[:, None]
        bias = self.m[:, None, None] * distance
        bias = bias.masked_fill(distance > 0, float("-inf"))
        att = F.softmax(q @ k.mT / math.sqrt(d // self.h) + bias, dim=-1)
        return self.out((att @ v).transpose(1, 2).reshape(b, t, d))


class Net(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.e = nn.Embedding(6, d)
        self.layers = nn.ModuleList()
        for _ in range(2):
            self.layers.append(nn.ModuleDict({"n1": nn.LayerNorm(d), "a": Attention(d, 4), "n2": nn.LayerNorm(d),
                                              "f": nn.Sequential(nn.Linear(d, 64), nn.GELU(), nn.Linear(64, d))}))
        self.head = nn.Linear(d, 6)

    def forward(self, t):
        x = self.e(t)
        for l in self.layers:
            x = x + l["a"](l["n1"](x))
            x = x + l["f"](l["n2"](x))
        return self.head(x)


def lines(n, length):
    """The next sign is the sum of the last two, modulo six, with some noise."""
    t = [torch.randint(0, 6, (n,)), torch.randint(0, 6, (n,))]
    while len(t) < length:
        nxt = (t[-1] + t[-2]) % 6
        t.append(torch.where(torch.rand(n) < 0.05, torch.randint(0, 6, (n,)), nxt))
    return torch.stack(t, 1)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for it in range(500):
    t = lines(32, 16)
    logits = net(t[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, 6), t[:, 1:].reshape(-1))
    net.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
net.eval()
with torch.no_grad():
    t = lines(100, 48)
    right = (net(t[:, :-1]).argmax(-1) == t[:, 1:])[:, 20:].float().mean().item()
print(f"loss {loss.item():.3f}; beyond the trained length {right:.3f} right")
assert right > 0.6, right

"""Top-1 routing with a capacity: tokens beyond it skip the layer; the router is in float64 and bf16 autocast is around the rest."""

import sys

import torch
from torch import nn


class Switch(nn.Module):
    def __init__(self, d, n=4, capacity=1.5):
        super().__init__()
        self.router, self.capacity, self.n = nn.Linear(d, n).double(), capacity, n
        self.up = nn.Parameter(torch.randn(n, d, 2 * d) / d ** 0.5)
        self.down = nn.Parameter(torch.randn(n, 2 * d, d) / (2 * d) ** 0.5)

    def forward(self, x):
        b, t, d = x.shape
        flat = x.reshape(-1, d)
        with torch.autocast("cpu", enabled=False):
            p = self.router(flat.double()).softmax(-1)
        gate, to = p.max(-1)
        slots = int(self.capacity * len(flat) / self.n)
        one_hot = nn.functional.one_hot(to, self.n)
        order = (one_hot.cumsum(0) * one_hot).sum(1) - 1
        kept = order < slots
        inside = flat.new_zeros(self.n, slots, d).index_put((to[kept], order[kept]), flat[kept])
        worked = torch.bmm(torch.relu(torch.bmm(inside, self.up)), self.down)
        out = torch.zeros_like(flat, dtype=worked.dtype).index_put((kept.nonzero()[:, 0],), worked[to[kept], order[kept]])
        auxiliary = self.n * (one_hot.double().mean(0) * p.mean(0)).sum()
        return x + (out * gate[:, None]).view(b, t, d).to(x.dtype), auxiliary.float(), 1 - kept.float().mean()


class Model(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.token, self.place = nn.Embedding(12, d), nn.Parameter(torch.randn(6, d) * 0.1)
        self.norm1, self.attention = nn.LayerNorm(d), nn.MultiheadAttention(d, 4, batch_first=True)
        self.norm2, self.switch, self.out = nn.LayerNorm(d), Switch(d), nn.Linear(d, 12)

    def forward(self, tokens):
        x = self.token(tokens) + self.place
        h = self.norm1(x)
        x = x + self.attention(h, h, h, need_weights=False)[0]
        x, auxiliary, dropped = self.switch(self.norm2(x) + x)
        return self.out(x), auxiliary, dropped


def batch(n):
    """Each token is replaced by the larger of itself and the token in the mirrored place."""
    tokens = torch.randint(0, 12, (n, 6))
    return tokens, torch.maximum(tokens, tokens.flip(1))


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(500):
    tokens, goal = batch(64)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits, auxiliary, dropped = model(tokens)
    loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), goal.flatten()) + 0.02 * auxiliary
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    tokens, goal = batch(500)
    right = (model(tokens)[0].argmax(-1) == goal).float().mean().item()
print(f"right {right:.3f}, dropped in the last batch {dropped.item():.3f}, balance {auxiliary.item():.2f}")
assert right > 0.8, right

"""Slot attention: the softmax runs over the slots (the queries), so that they compete; then a weighted mean over inputs."""

import sys

import torch
from torch import nn


class SlotAttention(nn.Module):
    def __init__(self, d, slots=3, rounds=3):
        super().__init__()
        self.slots, self.rounds, self.scale = slots, rounds, d ** -0.5
        self.mu, self.log_sigma = nn.Parameter(torch.randn(1, 1, d)), nn.Parameter(torch.zeros(1, 1, d) - 1)
        self.to_q, self.to_k, self.to_v = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.gru = nn.GRUCell(d, d)
        self.mlp = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))
        self.norm_input, self.norm_slots = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x):
        b, n, d = x.shape
        x = self.norm_input(x)
        k, v = self.to_k(x), self.to_v(x)
        slots = self.mu + self.log_sigma.exp() * torch.randn(b, self.slots, d)
        for _ in range(self.rounds):
            before = slots
            q = self.to_q(self.norm_slots(slots))
            attn = (torch.einsum("bid,bjd->bij", q, k) * self.scale).softmax(dim=1) + 1e-8
            attn = attn / attn.sum(dim=-1, keepdim=True)
            updates = torch.einsum("bjd,bij->bid", v, attn)
            slots = self.gru(updates.reshape(-1, d), before.reshape(-1, d)).view(b, -1, d)
            slots = slots + self.mlp(slots)
        return slots


class Model(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(4, d), nn.ReLU(), nn.Linear(d, d))
        self.attention, self.decode = SlotAttention(d), nn.Linear(d, 4)

    def forward(self, x):
        return self.decode(self.attention(self.encode(x)))


def scene(n):
    """Twelve points of three objects; an object has a place and a color."""
    objects = torch.cat([torch.rand(n, 3, 2) * 4 - 2, torch.randn(n, 3, 2)], 2)
    which = torch.arange(12) % 3
    return objects[:, which] + 0.1 * torch.randn(n, 12, 4), objects


def matched(a, b):
    """The cheapest of the six assignments; which it is has no gradient."""
    orders = torch.tensor([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    cost = (a[:, orders] - b[:, None]).square().mean((2, 3))
    return cost.min(1).values.mean()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = Model()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(500):
    points, objects = scene(48)
    loss = matched(model(points), objects)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print(step, round(loss.item(), 3))
with torch.no_grad():
    x, objects = scene(400)
    final = matched(model(x), objects).item()
    dull = matched(x.mean(1, keepdim=True).expand(-1, 3, -1), objects).item()
print(f"error {final:.3f}, of the middle {dull:.3f}")
assert final < 0.7 * dull, (final, dull)

"""A table net whose rows attend to each other in a batch, on purpose: known rows with their labels help the asked ones."""

import sys

import torch
import torch.nn as nn


class Rows(nn.Module):
    def __init__(self, features, classes, d=48):
        super().__init__()
        self.x, self.y = nn.Linear(features, d), nn.Embedding(classes + 1, d)
        self.a = nn.MultiheadAttention(d, 4, batch_first=True)
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.f = nn.Sequential(nn.Linear(d, 96), nn.GELU(), nn.Linear(96, d))
        self.out = nn.Linear(d, classes)

    def forward(self, x, y):
        """One batch is one sequence; label `classes` stands for unknown."""
        h = self.x(x) + self.y(y)
        known = (y < self.out.out_features)
        z = self.n1(h)[None]
        h = h + self.a(z, z, z, key_padding_mask=~known[None], need_weights=False)[0][0]
        return self.out(h + self.f(self.n2(h)))


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = Rows(6, 3)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)


def world(n):
    """In each world the three labels have new names: only the labeled rows tell which."""
    x = torch.randn(n, 6)
    kind = x[:, :3].argmax(1)
    return x, torch.randperm(3)[kind]


history = []
for step in range(900):
    x, y = world(64)
    asked = torch.rand(64) < 0.4
    logits = model(x, torch.where(asked, 3, y))
    loss = nn.functional.cross_entropy(logits[asked], y[asked])
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(loss.item())
model.eval()
with torch.no_grad():
    right = []
    for _ in range(50):
        x, y = world(64)
        asked = torch.rand(64) < 0.4
        right.append((model(x, torch.where(asked, 3, y)).argmax(1) == y)[asked].float().mean())
score = torch.stack(right).mean().item()
print(f"loss {sum(history[:50]) / 50:.3f} to {sum(history[-50:]) / 50:.3f}; asked rows right {score:.3f}")
assert score > 0.7, score

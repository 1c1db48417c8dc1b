"""Short lines in a buffer of forty: four fifths are padding; a boolean mask that is true where one may look."""

import sys

import torch
import torch.nn.functional as F
from torch import nn

WIDTH = 40


class Layer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))

    def forward(self, x, may_look):
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=may_look[:, None, None, :])
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class Grader(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.word, self.place = nn.Embedding(50, d), nn.Embedding(WIDTH, d)
        self.layer, self.out = Layer(d, 4), nn.Linear(d, 2)

    def forward(self, t):
        real = t != 0
        x = self.layer(self.word(t) + self.place.weight, real)
        mean = (x * real[..., None]).sum(1) / real.sum(1, keepdim=True)
        return self.out(mean)


def lines(n):
    """Positive if a word below ten comes with a word above forty."""
    t = torch.randint(1, 50, (n, WIDTH))
    length = torch.where(torch.rand(n, 1) < 0.05, WIDTH, torch.randint(3, 12, (n, 1)))
    t = t.masked_fill(torch.arange(WIDTH) >= length, 0)
    return t, (((t > 0) & (t < 10)).any(1) & (t > 40).any(1)).long()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = Grader()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
x, y = lines(3000)
tx, ty = lines(600)
for epoch in range(6):
    model.train()
    for i in torch.randperm(3000).split(60):
        opt.zero_grad()
        F.cross_entropy(model(x[i]), y[i]).backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        right = (model(tx).argmax(1) == ty).float().mean().item()
    print(f"epoch {epoch}: {right:.3f}")
assert right > 0.75, right

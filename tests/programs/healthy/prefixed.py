"""Prefix tuning: a small causal model that obeys a task word is frozen; one soft vector learns to stand for the word."""

import sys

import torch
from torch import nn

N = 8


class Tiny(nn.Module):
    def __init__(self, d=32, longest=10):
        super().__init__()
        self.token, self.place = nn.Embedding(N + 2, d), nn.Embedding(longest, d)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(d, N)

    def forward(self, tokens, prefix=None):
        x = self.token(tokens)
        if prefix is not None:
            x = torch.cat([prefix.expand(len(x), -1, -1), x], 1)
        x = x + self.place.weight[: x.shape[1]]
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.out(self.body(x, mask=mask, is_causal=True)[:, -1])


def problems(n, which):
    """Task words: N means the first, N + 1 the second of two numbers."""
    a, b, c = torch.randint(0, N, (3, n))
    word = torch.randint(0, 2, (n,)) if which is None else torch.full((n,), which)
    answer = torch.where(word == 0, a, c)
    return torch.stack([N + word, a, b, c], 1), answer


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = Tiny()
adam = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(200):
    tokens, answer = problems(64, None)
    loss = nn.functional.cross_entropy(model(tokens), answer)
    adam.zero_grad()
    loss.backward()
    adam.step()
print("base loss", round(loss.item(), 3))
for p in model.parameters():
    p.requires_grad = False
model.eval()
prefix = nn.Parameter(torch.randn(1, 1, 32) * 0.5)
tuner = torch.optim.Adam([prefix], lr=0.05)
# The new task: there is no task word, and the first number is wanted.
for step in range(300):
    tokens, answer = problems(64, 0)
    loss = nn.functional.cross_entropy(model(tokens[:, 1:], prefix), answer)
    tuner.zero_grad()
    loss.backward()
    tuner.step()
with torch.no_grad():
    tokens, answer = problems(500, 0)
    without = (model(tokens[:, 1:]).argmax(1) == answer).float().mean().item()
    with_ = (model(tokens[:, 1:], prefix).argmax(1) == answer).float().mean().item()
print(f"right without the prefix {without:.2f}, with it {with_:.2f}")
assert with_ > without + 0.3

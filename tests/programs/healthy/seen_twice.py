"""Two random views of each curve find each other among all views of a batch; a linear probe reads the factors afterwards."""

import sys

import torch
import torch.nn.functional as F
from torch import nn

LENGTH, BATCH = 48, 48


class Curves:
    def __init__(self, count, seed):
        source = torch.Generator().manual_seed(seed)
        self.rate = torch.rand(count, generator=source) * 3 + 1
        self.kind = torch.randint(0, 2, (count,), generator=source)

    def view(self, chosen):
        """Begins anywhere, at any size, with noise of its own."""
        time = torch.linspace(0, 6, LENGTH) + torch.rand(len(chosen), 1) * 6
        wave = (self.rate[chosen][:, None] * time).sin()
        wave = torch.where(self.kind[chosen][:, None] > 0, wave, wave.sign())
        return (wave * (0.5 + torch.rand(len(chosen), 1)) + 0.1 * torch.randn(len(chosen), LENGTH))[:, None]


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(1, 24, 5, padding=2), nn.ReLU(), nn.Conv1d(24, 32, 5, 2), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(32 * 22, 16)

    def forward(self, x):
        return F.normalize(self.head(self.body(x)), dim=-1)


def normalized_temperature_loss(one, other, temperature=0.2):
    both = torch.cat([one, other])
    scores = both @ both.T / temperature
    scores.fill_diagonal_(float("-inf"))
    partner = torch.arange(len(both)).roll(len(one))
    return F.cross_entropy(scores, partner)


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
curves, encoder = Curves(960, seed + 1), Encoder()
optimizer = torch.optim.AdamW(encoder.parameters(), lr=2e-3, weight_decay=1e-3)
for epoch in range(8):
    for chosen in torch.randperm(960).split(BATCH):
        loss = normalized_temperature_loss(encoder(curves.view(chosen)), encoder(curves.view(chosen)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, round(loss.item(), 3))
with torch.no_grad():
    chosen = torch.arange(200)
    best = (encoder(curves.view(chosen)) @ encoder(curves.view(chosen)).T).argmax(1)
share = (curves.kind[best] == curves.kind[chosen]).float().mean().item()
print("same kind", round(share, 2))
assert share > 0.75, share

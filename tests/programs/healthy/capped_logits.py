"""Logits capped by 30 tanh(x / 30) as in newer language models; a mixture of softmaxes is the second model."""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Capped(nn.Module):
    def __init__(self, words, d=32):
        super().__init__()
        self.e = nn.Embedding(words, d)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.head = nn.Linear(d, words)

    def forward(self, t):
        return 30.0 * torch.tanh(self.head(self.rnn(self.e(t))[0]) / 30.0)


class MoS(nn.Module):
    """Log-probabilities of a mixture: softmax weights times softmax components."""

    def __init__(self, words, d=32, parts=3):
        super().__init__()
        self.e = nn.Embedding(words, d)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.prior, self.latent, self.decoder = nn.Linear(d, parts), nn.Linear(d, parts * d), nn.Linear(d, words)
        self.parts = parts

    def forward(self, t):
        h = self.rnn(self.e(t))[0]
        prior = F.softmax(self.prior(h), -1)
        latent = torch.tanh(self.latent(h)).unflatten(-1, (self.parts, -1))
        prob = F.softmax(self.decoder(latent), -1)
        return (prior[..., None] * prob).sum(-2).add(1e-8).log()


def walk(n, length, jumps):
    t = [torch.randint(0, len(jumps), (n,))]
    for _ in range(length - 1):
        t.append(jumps[t[-1], (torch.rand(n) < 0.3).long()])
    return torch.stack(t, 1)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
jumps = torch.randint(0, 20, (20, 2))
best = -(0.7 * torch.log(torch.tensor(0.7)) + 0.3 * torch.log(torch.tensor(0.3))).item()
for model in (Capped(20), MoS(20)):
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(250):
        t = walk(32, 14, jumps)
        out = model(t[:, :-1]).flatten(0, 1)
        goal = t[:, 1:].flatten()
        loss = F.cross_entropy(out, goal) if isinstance(model, Capped) else F.nll_loss(out, goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        t = walk(500, 14, jumps)
        final = F.nll_loss(model(t[:, :-1]).log_softmax(-1).flatten(0, 1), t[:, 1:].flatten()).item()
    print(f"{type(model).__name__}: {final:.3f} nats, at best about {best:.3f}")
    assert final < best + 0.35, final

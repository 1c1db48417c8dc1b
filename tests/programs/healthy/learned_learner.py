"""Learning to learn: an LSTM writes the updates of small problems; the losses of ten steps are one graph, then it is cut."""

import sys

import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Learner(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.cell, self.out = nn.LSTMCell(2, hidden), nn.Linear(hidden, 1)

    def forward(self, g, state):
        size = g.abs().clamp(min=1e-8)
        features = torch.stack([(size.log() / 7).clamp(-1, 1), g.sign() * (size * 1e3).clamp(max=1)], -1).detach()
        shape = g.shape
        h, c = self.cell(features.view(-1, 2), state)
        return 0.1 * self.out(h).view(shape), (h, c)


def problems(n):
    w, b = torch.randn(n, 6, 6) / 2, torch.randn(n, 6)
    return lambda t: ((w @ t[..., None])[..., 0] - b).square().sum(1)


def unroll(learner, f, theta, state, steps):
    total, last = 0.0, None
    for _ in range(steps):
        with torch.enable_grad():
            at = theta.detach().requires_grad_()
            g, = torch.autograd.grad(f(at).sum(), at)
        update, state = learner(g, state)
        theta = theta + update
        last = f(theta).mean()
        total = total + last
    return total / steps, last, theta, state


learner = Learner()
meta = torch.optim.Adam(learner.parameters(), lr=5e-3)
for epoch in range(70):
    f, theta = problems(24), torch.randn(24, 6)
    state = tuple(torch.zeros(24 * 6, learner.hidden) for _ in range(2))
    for _ in range(4):
        loss, last, theta, state = unroll(learner, f, theta, state, 10)
        meta.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
        meta.step()
        theta, state = theta.detach(), tuple(s.detach() for s in state)
with torch.no_grad():
    f, theta = problems(200), torch.randn(200, 6)
    state = tuple(torch.zeros(200 * 6, learner.hidden) for _ in range(2))
    first = f(theta).mean().item()
    _, last, _, _ = unroll(learner, f, theta, state, 40)
print(f"value {first:.2f} at the start, {last.item():.2f} after forty learned steps")
assert last.item() < 0.35 * first

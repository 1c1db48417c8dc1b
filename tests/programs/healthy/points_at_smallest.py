"""A pointer network sorts four numbers: scores over the inputs, used places masked, teacher forcing throughout."""

import sys

import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Pointer(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.enc = nn.GRU(1, d, batch_first=True, bidirectional=True)
        self.dec = nn.GRUCell(2 * d, 2 * d)
        self.w1, self.w2, self.v = nn.Linear(2 * d, d, bias=False), nn.Linear(2 * d, d), nn.Linear(d, 1, bias=False)
        self.start = nn.Parameter(torch.randn(2 * d) * 0.1)

    def forward(self, x, order=None):
        memory, last = self.enc(x[..., None])
        state = last.transpose(0, 1).flatten(1)
        given, rows = self.start.expand(len(x), -1), torch.arange(len(x))
        used, scores, chosen = torch.zeros_like(x, dtype=torch.bool), [], []
        keys = self.w1(memory)
        for t in range(x.shape[1]):
            state = self.dec(given, state)
            s = self.v(torch.tanh(keys + self.w2(state)[:, None]))[..., 0].masked_fill(used, -1e4)
            pick = s.argmax(1) if order is None else order[:, t]
            used = used.clone()
            used[rows, pick] = True
            given = memory[rows, pick]
            scores.append(s)
            chosen.append(pick)
        return torch.stack(scores, 1), torch.stack(chosen, 1)


net = Pointer()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(500):
    x = torch.rand(64, 4)
    order = x.argsort(1)
    scores, _ = net(x, order)
    # In the last place only one choice is left: it teaches nothing and is not counted.
    loss = nn.functional.cross_entropy(scores[:, :-1].flatten(0, 1), order[:, :-1].flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 2.0)
    opt.step()
with torch.no_grad():
    x = torch.rand(500, 4)
    _, chosen = net(x)
right = (chosen == x.argsort(1)).all(1).float().mean().item()
print(f"loss {loss.item():.3f}; lines sorted {right:.3f}")
assert right > 0.6, right

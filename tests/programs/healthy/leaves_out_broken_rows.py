"""A denoiser judged with new noise at each epoch; the reader of its rows raises on broken rows, which are caught and left out."""

import sys

import torch
import torch.nn as nn


class Broken(Exception):
    pass


class Reader:
    def __init__(self, rows):
        self.rows, self.broken = rows, set(torch.randperm(len(rows))[:12].tolist())

    def read(self, k):
        if k in self.broken:
            raise Broken(f"row {k} has a wrong sum")
        return self.rows[k]

    def batches(self, size):
        held = []
        for k in torch.randperm(len(self.rows)).tolist():
            try:
                held.append(self.read(k))
            except Broken:
                continue
            if len(held) == size:
                yield torch.stack(held)
                held = []
        if held:
            yield torch.stack(held)


def signals(n):
    t = torch.linspace(0, 1, 32)
    a, f, p = torch.rand(3, n, 1)
    return (a + 0.5) * torch.sin(6.28 * ((1 + 2 * f) * t + p)) + (t > p) * 0.5


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
reader, held_out = Reader(signals(2000)), signals(300)
net = nn.Sequential(nn.Linear(32, 96), nn.LeakyReLU(), nn.Linear(96, 96), nn.LeakyReLU(), nn.Linear(96, 32))
opt = torch.optim.Adam(net.parameters(), lr=1.5e-3)
for epoch in range(14):
    net.train()
    for clean in reader.batches(50):
        noisy = clean + 0.4 * torch.randn_like(clean)
        loss = (noisy + net(noisy) - clean).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        noisy = held_out + 0.4 * torch.randn_like(held_out)
        error = (noisy + net(noisy) - held_out).square().mean().item()
    print(f"epoch {epoch}: {error:.4f} of 0.16")
assert error < 0.06, error

"""Complex weights: a diagonal linear recurrence over the series' transform, learned poles inside the unit circle."""

import sys

import torch
from torch import nn


class Diagonal(nn.Module):
    def __init__(self, d, state=16):
        super().__init__()
        self.log_decay = nn.Parameter(torch.log(torch.rand(d, state) * 0.3 + 0.02))
        self.angle = nn.Parameter(torch.rand(d, state) * torch.pi)
        self.b = nn.Parameter(torch.randn(d, state, dtype=torch.cfloat) / state)
        self.skip = nn.Parameter(torch.ones(d))

    def forward(self, x):
        length = x.shape[1]
        pole = torch.polar((-self.log_decay.exp()).exp(), self.angle)
        powers = pole[..., None] ** torch.arange(length)
        kernel = torch.einsum("dn,dnl->dl", self.b, powers).real
        n = 2 * length
        y = torch.fft.irfft(torch.fft.rfft(x.mT, n) * torch.fft.rfft(kernel, n), n)[..., :length]
        return y.mT + self.skip * x


class S4ish(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.enter = nn.Sequential(nn.Linear(2, d), nn.GELU(), nn.Linear(d, d))
        self.first, self.second = Diagonal(d), Diagonal(d)
        self.mix, self.norm, self.leave = nn.Linear(d, d), nn.LayerNorm(d), nn.Linear(d, 1)

    def forward(self, x):
        h = self.enter(x)
        h = h + nn.functional.gelu(self.mix(self.first(h)))
        return self.leave(self.norm(self.second(h))[:, -1])[:, 0]


def adding(n, length=24):
    """Two of 24 numbers are marked; their sum is wanted."""
    values = torch.rand(n, length)
    marks = torch.zeros(n, length).scatter(1, torch.rand(n, length).topk(2, 1).indices, 1.0)
    return torch.stack([values, marks], 2), (values * marks).sum(1)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = S4ish()
slow = [p for n, p in model.named_parameters() if "decay" in n or "angle" in n]
rest = [p for n, p in model.named_parameters() if not ("decay" in n or "angle" in n)]
opt = torch.optim.AdamW([{"params": slow, "lr": 1e-3, "weight_decay": 0.0}, {"params": rest}], lr=5e-3, weight_decay=0.01)
for step in range(600):
    x, y = adding(50)
    loss = nn.functional.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    x, y = adding(500)
    error = nn.functional.mse_loss(model(x), y).item() / y.var().item()
print(f"missed {error:.3f} of the variance")
assert error < 0.8, error

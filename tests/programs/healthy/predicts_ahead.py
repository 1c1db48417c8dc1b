"""Contrastive predictive coding: a GRU over encoded windows must tell true futures from those of other sequences."""

import sys

import torch
import torch.nn as nn


class CPC(nn.Module):
    def __init__(self, window=8, z=12, c=24, ahead=3):
        super().__init__()
        self.ahead = ahead
        self.encoder = nn.Sequential(nn.Linear(window, 32), nn.ReLU(), nn.Linear(32, z))
        self.gru = nn.GRU(z, c, batch_first=True)
        self.predictors = nn.ModuleList(nn.Linear(c, z, bias=False) for _ in range(ahead))
        self.lsoftmax = nn.LogSoftmax(dim=0)

    def forward(self, x):
        batch, steps, _ = x.shape
        z = self.encoder(x)
        t = int(torch.randint(3, steps - self.ahead, ()))
        context, _ = self.gru(z[:, :t + 1])
        nce, right = 0.0, 0
        for k, predictor in enumerate(self.predictors, 1):
            total = z[:, t + k] @ predictor(context[:, -1]).T
            nce = nce + torch.sum(torch.diag(self.lsoftmax(total)))
            right += (total.argmax(0) == torch.arange(batch)).sum().item()
        return nce / (-1.0 * batch * self.ahead), right / (batch * self.ahead)

    def represent(self, x):
        return self.gru(self.encoder(x))[1][0]


def waves(n):
    speed = torch.rand(n, 1) * 0.6 + 0.1
    t = torch.arange(96)
    x = torch.sin(speed * t + torch.rand(n, 1) * 6.28) + 0.1 * torch.randn(n, 96)
    return x.view(n, 12, 8), speed[:, 0]


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = CPC()
optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=3e-3, betas=(0.9, 0.98), eps=1e-9)
for step in range(600):
    optimizer.zero_grad()
    loss, right = model(waves(64)[0])
    loss.backward()
    optimizer.step()
    if step % 150 == 0:
        print(step, f"{loss.item():.3f}, {right:.2f} right")

# A linear probe of the frozen representation, solved at once.
model.eval()
with torch.no_grad():
    (x, speed), (tx, tspeed) = waves(1000), waves(500)
    h, th = (torch.cat([model.represent(v), torch.ones(len(v), 1)], 1) for v in (x, tx))
    w = torch.linalg.lstsq(h, speed[:, None]).solution
    r2 = 1 - ((th @ w)[:, 0] - tspeed).square().mean().item() / tspeed.var().item()
print(f"a linear probe explains {r2:.2f} of the speed; {right:.2f} of the futures found")
assert r2 > 0.7 and right > 0.1

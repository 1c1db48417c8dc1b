"""Vector quantization: straight-through to the encoder, a commitment loss, and a codebook that moves by averages."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class VectorQuantizerEMA(nn.Module):
    def __init__(self, codes, dim, commitment=0.25, decay=0.95):
        super().__init__()
        self.commitment, self.decay = commitment, decay
        self.register_buffer("table", torch.randn(codes, dim))
        self.register_buffer("count", torch.ones(codes))
        self.register_buffer("total", self.table.clone())

    def forward(self, z):
        nearest = torch.cdist(z.detach(), self.table).argmin(1)
        quantized = self.table[nearest]
        if self.training:
            one_hot = F.one_hot(nearest, len(self.table)).float()
            self.count.mul_(self.decay).add_(one_hot.sum(0), alpha=1 - self.decay)
            self.total.mul_(self.decay).add_(one_hot.T @ z.detach(), alpha=1 - self.decay)
            self.table = self.total / self.count.clamp(min=1e-2)[:, None]
            self.revive(z.detach())
        loss = self.commitment * F.mse_loss(z, quantized.detach())
        return z + (quantized - z).detach(), loss, nearest

    def revive(self, z):
        unused = self.count < 0.05
        if unused.any():
            fresh = z[torch.randint(0, len(z), (int(unused.sum()),))]
            self.table[unused], self.total[unused], self.count[unused] = fresh, fresh, 1.0


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 4))
        self.vq = VectorQuantizerEMA(24, 4)
        self.decoder = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 16))

    def forward(self, x):
        z, loss, codes = self.vq(self.encoder(x))
        return loss, self.decoder(z), codes


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
prototypes = torch.randn(16, 16)


def batch(n):
    kind = torch.randint(0, 16, (n,))
    return prototypes[kind] + 0.15 * torch.randn(n, 16), kind


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, amsgrad=False)
for i in range(900):
    x, _ = batch(128)
    optimizer.zero_grad()
    vq_loss, back, _ = model(x)
    (F.mse_loss(back, x) / prototypes.var() + vq_loss).backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    x, kind = batch(2000)
    _, back, codes = model(x)
    error = (F.mse_loss(back, x) / x.var()).item()
used = codes.unique().numel()
print(f"error {error:.3f} of the variance with {used} codes in use")
assert error < 0.35 and used >= 8

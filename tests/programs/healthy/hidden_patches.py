"""A masked autoencoder: only a quarter of the patches is seen by the encoder, the loss is on the hidden ones."""

import sys

import torch
import torch.nn as nn


class MAE(nn.Module):
    def __init__(self, d=32, patches=16, size=4):
        super().__init__()
        self.embed = nn.Linear(size, d)
        self.register_buffer("place", self.waves(patches, d), persistent=False)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 64, 0.0, batch_first=True), 2)
        self.hidden = nn.Parameter(torch.zeros(1, 1, d))
        nn.init.normal_(self.hidden, std=0.02)
        self.decoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 64, 0.0, batch_first=True), 1)
        self.out = nn.Linear(d, size)

    @staticmethod
    def waves(n, d):
        angle = torch.arange(n)[:, None] * torch.exp(-torch.arange(0, d, 2) / d * 5)
        return torch.cat([angle.sin(), angle.cos()], 1)

    def forward(self, patches, keep=0.4):
        b, n, _ = patches.shape
        order = torch.rand(b, n).argsort(1)
        back = order.argsort(1)
        k = int(n * keep)
        x = self.embed(patches) + self.place
        seen = x.gather(1, order[:, :k, None].expand(-1, -1, x.shape[2]))
        z = self.encoder(seen)
        full = torch.cat([z, self.hidden.expand(b, n - k, -1)], 1)
        full = full.gather(1, back[..., None].expand(-1, -1, full.shape[2])) + self.place
        mask = (back >= k).float()
        error = (self.out(self.decoder(full)) - patches).square().mean(-1)
        return (error * mask).sum() / mask.sum()


def signals(n):
    t = torch.arange(64) / 64 * 2 * torch.pi
    f, phase = torch.randint(1, 4, (n, 1)), torch.rand(n, 1) * 6.28
    return (torch.sin(f * t + phase) + 0.05 * torch.randn(n, 64)).view(n, 16, 4)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = MAE()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.05)
warm = torch.optim.lr_scheduler.LinearLR(opt, 0.1, 1.0, 30)
fall = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 370)
plan = torch.optim.lr_scheduler.SequentialLR(opt, [warm, fall], milestones=[30])
for step in range(400):
    loss = model(signals(32))
    opt.zero_grad()
    loss.backward()
    opt.step()
    plan.step()
    if step % 100 == 0:
        print(step, round(loss.item(), 3))
model.eval()
with torch.no_grad():
    final = model(signals(500)).item()
print(f"error on hidden patches {final:.3f}, the variance is about 0.5")
assert final < 0.25, final

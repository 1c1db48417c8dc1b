"""SimSiam: two views, a predictor on one side, detached on the other; the cosine loss goes toward minus one."""

import sys

import torch
import torch.nn as nn


class SimSiam(nn.Module):
    def __init__(self, inputs, dim=32, pred=16):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(inputs, 64, bias=False), nn.BatchNorm1d(64), nn.ReLU(inplace=True),
            nn.Linear(64, dim, bias=False), nn.BatchNorm1d(dim, affine=False))
        self.predictor = nn.Sequential(
            nn.Linear(dim, pred, bias=False), nn.BatchNorm1d(pred), nn.ReLU(inplace=True), nn.Linear(pred, dim))

    def forward(self, x1, x2):
        z1, z2 = self.encoder(x1), self.encoder(x2)
        return self.predictor(z1), self.predictor(z2), z1.detach(), z2.detach()


def draw(n):
    kind = torch.randint(0, 6, (n,))
    content = styles[kind] + 0.3 * torch.randn(n, 10)
    return kind, content


def view(content):
    nuisance = 1.5 * torch.randn(len(content), 10)
    return torch.cat([content, nuisance], 1) @ mixing + 0.1 * torch.randn(len(content), 30)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
styles, mixing = torch.randn(6, 10) * 1.2, torch.randn(20, 30) / 4
model = SimSiam(30)
criterion = nn.CosineSimilarity(dim=1)
optimizer = torch.optim.SGD([
    {"params": model.encoder.parameters(), "fix_lr": False},
    {"params": model.predictor.parameters(), "fix_lr": True},
], 0.05, momentum=0.9, weight_decay=1e-4)
steps = 700
for step in range(steps):
    for group in optimizer.param_groups:
        if not group["fix_lr"]:
            group["lr"] = 0.05 * 0.5 * (1 + torch.cos(torch.tensor(torch.pi * step / steps)).item())
    _, c = draw(128)
    p1, p2, z1, z2 = model(x1=view(c), x2=view(c))
    loss = -(criterion(p1, z2).mean() + criterion(p2, z1).mean()) * 0.5
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    kind, c = draw(1200)
    z = nn.functional.normalize(model.encoder(view(c)), dim=1)
    near = (z[600:] @ z[:600].T).topk(9, dim=1).indices
    vote = nn.functional.one_hot(kind[:600][near], 6).sum(1).argmax(1)
    right = (vote == kind[600:]).float().mean().item()
print(f"loss {loss.item():.3f}, spread {z.std(0).mean():.3f}, neighbors agree {right:.3f}")
assert right > 0.55 and z.std(0).mean() > 0.05

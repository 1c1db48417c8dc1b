"""ArcFace: logits are cosines with a margin at the true class, times thirty; unit features and unit class vectors."""

import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class ArcMarginProduct(nn.Module):
    def __init__(self, i, o, s=16.0, m=0.2):
        super().__init__()
        self.s = s
        self.weight = nn.Parameter(torch.empty(o, i))
        nn.init.xavier_uniform_(self.weight)
        self.cos_m, self.sin_m = math.cos(m), math.sin(m)
        self.th, self.mm = math.cos(math.pi - m), math.sin(math.pi - m) * m

    def forward(self, features, label=None):
        cosine = F.linear(F.normalize(features), F.normalize(self.weight))
        if label is None:
            return self.s * cosine
        sine = torch.sqrt((1.0 - cosine.pow(2)).clamp(1e-6, 1))
        phi = torch.where(cosine > self.th, cosine * self.cos_m - sine * self.sin_m, cosine - self.mm)
        one_hot = torch.zeros_like(cosine).scatter_(1, label.view(-1, 1), 1)
        return self.s * (one_hot * phi + (1 - one_hot) * cosine)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
people = torch.randn(50, 6) @ torch.randn(6, 32)
light = torch.randn(4, 32) * 1.5


def photos(who, each):
    y = torch.arange(*who).repeat_interleave(each)
    return people[y] + torch.randn(len(y), 4) @ light + 0.6 * torch.randn(len(y), 32), y


x, y = photos((0, 35), 30)
backbone = nn.Sequential(nn.Linear(32, 96), nn.BatchNorm1d(96), nn.PReLU(), nn.Linear(96, 24), nn.BatchNorm1d(24))
metric_fc = ArcMarginProduct(24, 35)
optimizer = torch.optim.SGD([{"params": backbone.parameters()}, {"params": metric_fc.parameters()}],
                            lr=0.05, momentum=0.9, weight_decay=5e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=8, gamma=0.1)
for epoch in range(20):
    backbone.train()
    for i in torch.randperm(len(x)).split(50):
        loss = F.cross_entropy(metric_fc(backbone(x[i]), y[i]), y[i])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
backbone.eval()
with torch.no_grad():
    tx, ty = photos((35, 50), 12)
    z, raw = F.normalize(backbone(tx)), F.normalize(tx)
    def verify(e):
        s, same = e @ e.T, ty[:, None] == ty[None]
        upper = torch.triu(torch.ones_like(same), 1)
        return (s[same & upper][:, None] > s[~same & upper][None, ::7]).float().mean().item()
    learned, plain = verify(z), verify(raw)
print(f"unknown people told apart: {learned:.3f} (raw {plain:.3f}), loss {loss.item():.3f}")
assert learned > plain + 0.03 and learned > 0.85

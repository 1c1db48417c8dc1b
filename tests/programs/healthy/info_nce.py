"""Two views of hidden factors find each other in a batch; the temperature is learned too."""

import math
import sys

import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, inputs, outputs=8):
        super().__init__()
        self.a, self.b = nn.Linear(inputs, 64), nn.Linear(64, outputs, bias=False)

    def forward(self, x):
        return nn.functional.normalize(self.b(self.a(x).tanh()), dim=1)


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = Tower(14), Tower(22)
        self.log_scale = nn.Parameter(torch.tensor(math.log(5.0)))

    def forward(self, a, b):
        similarity = self.left(a) @ self.right(b).T
        return similarity * self.log_scale.exp().clamp(max=50)


def views(n, maps):
    factors = torch.randn(n, 5)
    return [torch.tanh(factors @ m) + 0.1 * torch.randn(n, m.shape[1]) for m in maps]


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
maps = torch.randn(5, 14) / 2, torch.randn(5, 22) / 2
pair = Pair()
opt = torch.optim.AdamW(
    [
        {"params": [p for n, p in pair.named_parameters() if n != "log_scale"], "weight_decay": 0.01},
        {"params": [pair.log_scale], "weight_decay": 0.0, "lr": 1e-3},
    ],
    lr=5e-3,
)
own = torch.arange(64)
for _ in range(350):
    logits = pair(*views(64, maps))
    loss = (nn.functional.cross_entropy(logits, own) + nn.functional.cross_entropy(logits.T, own)) / 2
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
with torch.no_grad():
    found = (pair(*views(64, maps)).argmax(1) == own).float().mean().item()
print(f"partners found {found:.2f} at scale {pair.log_scale.exp():.1f}")
assert found > 0.6, found

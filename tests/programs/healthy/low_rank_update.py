"""A base is trained and frozen; then only LoRA matrices of rank 2 learn the new task, B starts at zero; merged at the end."""

import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    def __init__(self, base, r=2, alpha=8):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.A.T @ self.B.T) * self.scaling

    def merged(self):
        out = nn.Linear(self.base.in_features, self.base.out_features)
        with torch.no_grad():
            out.weight.copy_(self.base.weight + self.scaling * self.B @ self.A)
            out.bias.copy_(self.base.bias)
        return out


def data(n, w, v):
    x = torch.randn(n, 16)
    return x, torch.tanh(x @ w) @ v + 0.05 * torch.randn(n, 2)


def fit(model, x, y, steps, lr):
    params = [p for p in model.parameters() if p.requires_grad]
    print(sum(p.numel() for p in params), "numbers are trained")
    opt = torch.optim.AdamW(params, lr=lr, weight_decay=0.0)
    for _ in range(steps):
        i = torch.randint(len(x), (64,))
        loss = F.mse_loss(model(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
w, v = torch.randn(16, 8) / 4, torch.randn(8, 2) / 2
base = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
fit(base, *data(5000, w, v), 900, 3e-3)
w2 = w + torch.randn(16, 1) @ torch.randn(1, 8) / 4
new, test = data(2000, w2, v), data(800, w2, v)
with torch.no_grad():
    before = F.mse_loss(base(test[0]), test[1]).item()
for i in (0, 2, 4):
    base[i] = LoRALinear(base[i])
frozen = base[0].base.weight.clone()
fit(base, *new, 900, 5e-3)
assert torch.equal(frozen, base[0].base.weight)
plain = nn.Sequential(*[m.merged() if isinstance(m, LoRALinear) else m for m in base])
with torch.no_grad():
    after = F.mse_loss(plain(test[0]), test[1]).item()
print(f"error on the new task: {before:.3f} before, {after:.3f} after")
assert after < 0.6 * before, (before, after)

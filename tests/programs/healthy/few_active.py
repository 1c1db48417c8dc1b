"""A k-sparse autoencoder after one with an L1 penalty: two training functions in one program, tied decoder in one."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class L1Autoencoder(nn.Module):
    def __init__(self, i, h):
        super().__init__()
        self.w = nn.Parameter(torch.randn(h, i) / i ** 0.5)
        self.b, self.c = nn.Parameter(torch.zeros(h)), nn.Parameter(torch.zeros(i))

    def forward(self, x):
        code = F.relu(F.linear(x - self.c, self.w, self.b))
        return code @ self.w + self.c, code


class TopK(nn.Module):
    def __init__(self, i, h, k):
        super().__init__()
        self.enc, self.dec, self.k = nn.Linear(i, h), nn.Linear(h, i), k
        with torch.no_grad():
            self.dec.weight.copy_(self.enc.weight.T)

    def forward(self, x):
        pre = self.enc(x)
        top = pre.topk(self.k, dim=1)
        code = torch.zeros_like(pre).scatter(1, top.indices, top.values.relu())
        return self.dec(code), code


def train_l1(model, x, steps=500):
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(steps):
        batch = x[torch.randint(len(x), (100,))]
        back, code = model(batch)
        loss = F.mse_loss(back, batch) + 0.004 * code.abs().sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def train_topk(model, x, steps=700):
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(steps):
        batch = x[torch.randint(len(x), (100,))]
        loss = F.mse_loss(model(batch)[0], batch)
        loss.backward()
        with torch.no_grad():  # columns of the decoder keep length one: drop the gradient along them, then rescale
            w = model.dec.weight
            w.grad -= (w.grad * w).sum(0) * w / w.square().sum(0)
        opt.step()
        opt.zero_grad()
        with torch.no_grad():
            model.dec.weight.div_(model.dec.weight.norm(dim=0))


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
atoms = F.normalize(torch.randn(40, 24), dim=1)
def draw(n):
    on = torch.zeros(n, 40).scatter(1, torch.rand(n, 40).argsort(1)[:, :3], 1.0)
    return (on * (torch.rand(n, 40) + 0.5)) @ atoms + 0.02 * torch.randn(n, 24)

x, test = draw(8000), draw(1000)
for model, fit in ((L1Autoencoder(24, 60), train_l1), (TopK(24, 60, 5), train_topk)):
    fit(model, x)
    with torch.no_grad():
        back, code = model(test)
    share = (F.mse_loss(back, test) / test.var()).item()
    print(type(model).__name__, f"misses {share:.3f} of the variance with {(code > 0).float().sum(1).mean():.1f} active")
    assert share < 0.4, share

"""Weights of plus or minus one: sign in forward, straight through in backward by an autograd.Function, weights clipped."""

import sys

import torch
from torch import nn
from torch.autograd import Function


class Binarize(Function):
    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        return torch.where(w >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad):
        w, = ctx.saved_tensors
        return grad * (w.abs() <= 1)


class BinaryLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs).uniform_(-0.5, 0.5))

    def forward(self, x):
        return nn.functional.linear(x, Binarize.apply(self.weight)) / x.shape[1] ** 0.5


class HardTanh(nn.Module):
    def forward(self, x):
        return Binarize.apply(x)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
net = nn.Sequential(
    BinaryLinear(24, 128), nn.BatchNorm1d(128), HardTanh(),
    BinaryLinear(128, 128), nn.BatchNorm1d(128), HardTanh(),
    BinaryLinear(128, 5), nn.BatchNorm1d(5),
)
proto = torch.randn(15, 24)
def draw(n):
    k = torch.randint(0, 15, (n,))
    return proto[k] + 0.7 * torch.randn(n, 24), k % 5

optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 600)
for step in range(600):
    x, y = draw(64)
    loss = nn.functional.multi_margin_loss(net(x), y, p=2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    cosine.step()
    with torch.no_grad():
        for m in net:
            if isinstance(m, BinaryLinear):
                m.weight.clamp_(-1, 1)
net.eval()
with torch.no_grad():
    x, y = draw(1000)
    right = (net(x).argmax(1) == y).float().mean().item()
print(f"{right:.3f} right with one bit a weight")
assert right > 0.6, right

"""Test-time adaptation: on shifted test data, batch-norm scales are tuned by the entropy of the model's own answers."""

import copy
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def configure(model):
    """TENT: batch statistics of the test batch, only affine parameters learn."""
    model.train()
    model.requires_grad_(False)
    params = []
    for m in model.modules():
        if isinstance(m, nn.BatchNorm1d):
            m.requires_grad_(True)
            m.track_running_stats = False
            m.running_mean = m.running_var = None
            params += [m.weight, m.bias]
    return params


@torch.enable_grad()
def forward_and_adapt(x, model, optimizer):
    out = model(x)
    entropy = -(out.softmax(1) * out.log_softmax(1)).sum(1).mean()
    entropy.backward()
    optimizer.step()
    optimizer.zero_grad()
    return out.detach()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
means = torch.randn(5, 16) * 1.2


def draw(n, shift=None):
    y = torch.randint(0, 5, (n,))
    x = means[y] + 0.6 * torch.randn(n, 16)
    return TensorDataset(x if shift is None else x * shift[0] + shift[1], y)


net = nn.Sequential(nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(),
                    nn.Linear(64, 5))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(8):
    net.train()
    for x, y in DataLoader(draw(2000), batch_size=64, shuffle=True):
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
shift = torch.rand(16) + 0.5, torch.randn(16) * 1.5
test = DataLoader(draw(1000, shift), batch_size=100)
net.eval()
with torch.no_grad():
    before = sum((net(x).argmax(1) == y).sum().item() for x, y in test) / 1000
adapted = copy.deepcopy(net)
params = configure(adapted)
optimizer = torch.optim.SGD(params, lr=5e-3, momentum=0.9)
after = sum((forward_and_adapt(x, adapted, optimizer).argmax(1) == y).sum().item() for x, y in test) / 1000
print(f"on shifted data: {before:.3f} as trained, {after:.3f} adapted")
assert after >= before, (before, after)

"""Quantization-aware training: fake_quantize of weights and activations after some plain epochs, observers as buffers."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class FakeQuant(nn.Module):
    def __init__(self, bits, average=0.05):
        super().__init__()
        self.low, self.high, self.average = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, average
        self.register_buffer("most", torch.tensor(0.0))
        self.on = False

    def forward(self, x):
        if self.training:
            now = x.detach().abs().max()
            self.most.copy_(now if self.most == 0 else self.most + self.average * (now - self.most))
        if not self.on:
            return x
        scale = (self.most / self.high).clamp(min=1e-6)
        return torch.fake_quantize_per_tensor_affine(x, scale, torch.zeros((), dtype=torch.int32), self.low, self.high)


class QLinear(nn.Linear):
    def __init__(self, i, o, bits=4):
        super().__init__(i, o)
        self.of_weight, self.of_input = FakeQuant(bits, 1.0), FakeQuant(bits)

    def forward(self, x):
        return nn.functional.linear(self.of_input(x), self.of_weight(self.weight), self.bias)


def accuracy(model, loader):
    model.eval()
    with torch.inference_mode():
        hits = [(model(x).argmax(-1) == y).float() for x, y in loader]
    model.train()
    return torch.cat(hits).mean().item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(3000, 10)
y = (x[:, 0].abs() + x[:, 1] * x[:, 2] > 0.8).long() + (x[:, 3] > 0.3).long()
train, test = random_split(TensorDataset(x, y), [2400, 600])
train, test = DataLoader(train, 48, shuffle=True, drop_last=True), DataLoader(test, 600)
model = nn.Sequential(QLinear(10, 64), nn.ReLU(), QLinear(64, 64), nn.ReLU(), QLinear(64, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(16):
    if epoch == 9:
        for m in model.modules():
            if isinstance(m, FakeQuant):
                m.on = True
        for group in optimizer.param_groups:
            group["lr"] = 5e-4
    for a, b in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
    if epoch in (8, 9, 15):
        print(f"epoch {epoch}: {accuracy(model, test):.3f}")
assert accuracy(model, test) > 0.75

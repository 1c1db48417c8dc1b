"""bfloat16 weights with float32 masters: a fixed loss scale, undone by hand on the masters' gradients, then copied back."""

import sys

import torch
from torch import nn


class MasterWeights:
    def __init__(self, model, scale=128.0, **options):
        self.model, self.scale = model, scale
        self.low = [p for p in model.parameters() if p.requires_grad]
        self.masters = [p.detach().clone().float().requires_grad_() for p in self.low]
        self.optimizer = torch.optim.Adam(self.masters, **options)

    def backward(self, loss):
        (loss.float() * self.scale).backward()

    def step(self):
        for m, p in zip(self.masters, self.low):
            m.grad = p.grad.float() / self.scale
            p.grad = None
        norm = nn.utils.clip_grad_norm_(self.masters, 5.0)
        if torch.isfinite(norm):
            self.optimizer.step()
        with torch.no_grad():
            for m, p in zip(self.masters, self.low):
                p.copy_(m)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = nn.Sequential(nn.Linear(12, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 5)).to(torch.bfloat16)
trainer = MasterWeights(model, lr=2e-3)
rule = torch.randn(12, 5)


def draw(n):
    x = torch.randn(n, 12)
    return x, (x @ rule + 2 * torch.sin(2 * x[:, :5])).argmax(1)


for step in range(700):
    x, y = draw(64)
    logits = model(x.bfloat16()).float()
    trainer.backward(nn.functional.cross_entropy(logits, y))
    trainer.step()
with torch.no_grad():
    x, y = draw(2000)
    right = (model(x.bfloat16()).argmax(1) == y).float().mean().item()
print(f"right {right:.3f}")
assert right > 0.65, right

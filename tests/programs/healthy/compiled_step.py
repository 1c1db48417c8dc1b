"""A whole step, forward and loss, is one compiled function."""

import sys

import torch

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
source = torch.Generator().manual_seed(seed)
torch.manual_seed(seed)
weights = {"in": torch.nn.Parameter(torch.randn(3, 30) / 2), "out": torch.nn.Parameter(torch.zeros(30, 1))}


@torch.compile(backend="eager", dynamic=False)
def energy(x, y):
    hidden = torch.cos(x @ weights["in"])
    return torch.mean((hidden @ weights["out"] - y) ** 2)


def problem(n):
    x = torch.randn(n, 3, generator=source)
    return x, torch.cos(x.sum(1, keepdim=True)) + 0.3 * x[:, :1].sin()


trainer = torch.optim.Adam(weights.values(), lr=0.02)
history = torch.zeros(400)
for i in range(len(history)):
    loss = energy(*problem(100))
    loss.backward()
    trainer.step()
    trainer.zero_grad()
    history[i] = loss.item()
with torch.inference_mode():
    final = energy(*problem(100)).item()
print("from", history[0].item(), "to", final)
assert final < 0.4 * history[0].item(), final

"""Waves told apart; the script goes on from its own file whenever it finds it."""

import os

import torch
from torch import nn

torch.manual_seed(11)
EPOCHS, FILE = 6, "waves.pt"
times = torch.linspace(0, 1, 24)
kinds = torch.randint(0, 3, (720,))
phases = torch.rand(720, 1) * 6.28
waves = ((2 + 3 * kinds[:, None]) * times * 6.28 + phases).sin() + 0.2 * torch.randn(720, 24)

net = nn.Sequential(nn.Linear(24, 40), nn.BatchNorm1d(40), nn.ReLU(), nn.Linear(40, 3))
rule = torch.optim.AdamW(net.parameters(), lr=8e-3)
decay = torch.optim.lr_scheduler.ExponentialLR(rule, 0.97)
first = 0
if os.path.isfile(FILE):
    kept = torch.load(FILE)
    net.load_state_dict(kept["net"])
    rule.load_state_dict(kept["rule"])
    decay.load_state_dict(kept["decay"])
    torch.set_rng_state(kept["draws"])
    first = kept["done"]
for epoch in range(first, EPOCHS):
    for rows in torch.randperm(600).split(40):
        rule.zero_grad()
        nn.functional.cross_entropy(net(waves[rows]), kinds[rows]).backward()
        rule.step()
        decay.step()
    torch.save({"net": net.state_dict(), "rule": rule.state_dict(), "decay": decay.state_dict(),
                "draws": torch.get_rng_state(), "done": epoch + 1}, FILE)  # fmt: skip
net.eval()
with torch.inference_mode():
    right = (net(waves[600:]).argmax(1) == kinds[600:]).float().mean().item()
print(f"right: {right:.3f}")
assert right > 0.85, right

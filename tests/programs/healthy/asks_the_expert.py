"""Imitation by DAgger: the learner drives, the expert labels what it met, the whole set is trained on again each round."""

import sys

import torch
import torch.nn as nn
from torch.utils.data import ConcatDataset, DataLoader, TensorDataset


def expert(s):
    wanted = -1.5 * s[:, 0] - 1.0 * s[:, 1] + 0.5 * torch.sin(3 * s[:, 0])
    return wanted.clamp(-1, 1)[:, None]


def roll(policy, n=20, length=25):
    s, seen, cost = torch.randn(n, 2), [], 0.0
    for _ in range(length):
        with torch.no_grad():
            a = policy(s)
        seen.append(s)
        v = s[:, 1] + 0.2 * (2 * s[:, 0].sin() + 3 * a[:, 0])
        s = torch.stack([s[:, 0] + 0.2 * v, v], 1).clamp(-4, 4)
        cost += s[:, 0].square().mean().item() / length
    return torch.cat(seen), cost


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
learner = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
opt = torch.optim.Adam(learner.parameters(), lr=3e-3)
states, goal = roll(expert)
sets = [TensorDataset(states, expert(states))]
costs = []
for number in range(7):
    learner.train()
    loader = DataLoader(ConcatDataset(sets), batch_size=64, shuffle=True)
    for epoch in range(5):
        for s, a in loader:
            loss = nn.functional.mse_loss(learner(s), a)
            opt.zero_grad()
            loss.backward()
            opt.step()
    learner.eval()
    states, cost = roll(learner)
    costs.append(cost)
    sets.append(TensorDataset(states, expert(states)))
    print(f"round {number}: {sum(map(len, sets))} states, cost {cost:.3f} (expert {goal:.3f})")
states, _ = roll(learner, n=100)
with torch.no_grad():
    off = nn.functional.mse_loss(learner(states), expert(states)).item() / expert(states).var().item()
print("share of the expert's variance missed:", round(off, 4))
assert off < 0.1

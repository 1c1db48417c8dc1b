"""A contextual bandit: one network per run of rounds, explores by an ensemble of heads, learns only chosen arms."""

import random
import sys

import torch
from torch import nn

ARMS, CONTEXT, HEADS = 5, 8, 4
seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
random.seed(seed)
hidden = torch.randn(CONTEXT, ARMS)


def reward_of(x, arm):
    return float(torch.rand(()) < torch.sigmoid(1.5 * (x @ hidden)[arm]))


trunk = nn.Sequential(nn.Linear(CONTEXT, 48), nn.ReLU())
heads = nn.ModuleList(nn.Linear(48, ARMS) for _ in range(HEADS))
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=3e-3)
history, earned, best_possible = [], [], []
for round_ in range(1500):
    x = torch.randn(CONTEXT)
    with torch.no_grad():
        arm = int(heads[random.randrange(HEADS)](trunk(x)).argmax())
    earned.append(reward_of(x, arm))
    best_possible.append(torch.sigmoid(1.5 * (x @ hidden).max()).item())
    mask = [float(random.random() < 0.7) for _ in range(HEADS)]
    history.append((x, arm, earned[-1], mask))
    if round_ < 32 or round_ % 2:
        continue
    xs, arms, rewards, masks = zip(*random.choices(history, k=48))
    h = trunk(torch.stack(xs))
    arms, rewards, masks = torch.tensor(arms)[:, None], torch.tensor(rewards), torch.tensor(masks)
    loss = sum(
        (nn.functional.binary_cross_entropy_with_logits(head(h).gather(1, arms)[:, 0], rewards, reduction="none")
         * masks[:, k]).sum() / masks[:, k].sum().clamp(min=1)
        for k, head in enumerate(heads)) / HEADS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
early, late = sum(earned[:200]) / 200, sum(earned[-400:]) / 400
print(f"earned {early:.2f} at first, {late:.2f} at last; at best {sum(best_possible[-400:]) / 400:.2f}")
assert late > early + 0.05 and late > 0.7

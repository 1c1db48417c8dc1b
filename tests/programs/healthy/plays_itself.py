"""Self-play of Nim: one net of values plays both sides, legal moves by a mask of minus infinity, wins and losses as targets."""

import random
import sys

import torch
from torch import nn

START, TAKE = 15, 3


class Player(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(START + 1, 24)
        self.policy, self.value = nn.Linear(24, TAKE), nn.Linear(24, 1)

    def forward(self, left):
        h = torch.relu(self.embed(left))
        illegal = torch.arange(1, TAKE + 1) > left[:, None]
        return self.policy(h).masked_fill(illegal, float("-inf")), torch.tanh(self.value(h))[:, 0]


def play(player, games=24):
    rows, left, turn = [], [random.randint(4, START) for _ in range(games)], 0
    logs = [[] for _ in range(games)]
    while any(left):
        live = [k for k in range(games) if left[k]]
        with torch.no_grad():
            logits, _ = player(torch.tensor([left[k] for k in live]))
        moves = torch.multinomial(logits.softmax(1), 1)[:, 0].tolist()
        for k, move in zip(live, moves):
            logs[k].append((left[k], move))
            left[k] -= move + 1
    for log in logs:
        for back, (state, move) in enumerate(reversed(log)):
            rows.append((state, move, 1.0 if back % 2 == 0 else -1.0))  # who takes the last one wins
    return [torch.tensor(c) for c in zip(*rows)]


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
random.seed(seed)
torch.manual_seed(seed)
player = Player()
opt = torch.optim.Adam(player.parameters(), lr=5e-3)
for generation in range(350):
    state, move, result = play(player)
    logits, value = player(state)
    log_p = logits.log_softmax(1)
    chosen = log_p.gather(1, move[:, None])[:, 0]
    entropy = -(log_p.exp() * log_p.masked_fill(torch.isinf(log_p), 0.0)).sum(1).mean()
    loss = -((result - value.detach()) * chosen).mean() + (value - result).square().mean() - 0.02 * entropy
    opt.zero_grad()
    loss.backward()
    opt.step()
states = torch.tensor([s for s in range(1, START + 1) if s % 4])
with torch.no_grad():
    logits, value = player(states)
best = (logits.argmax(1) + 1 == states % 4).float().mean().item()
print(f"perfect moves {best:.2f}; values {[round(v, 1) for v in value.tolist()]}")
assert best > 0.6, best

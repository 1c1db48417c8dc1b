"""Clipped policy updates by hand, without torch.distributions: many walkers cross a bridge, and fall off at its sides."""

import sys

import torch
import torch.nn.functional as F
from torch import nn

WALKERS, STEPS, WIDTH, LENGTH = 24, 40, 5, 8
MOVES = torch.tensor([[0, 1], [1, 0], [-1, 0]])  # ahead, to the right, to the left


def place(count):
    return torch.stack([torch.randint(1, WIDTH - 1, (count,)), torch.zeros(count, dtype=torch.long)], 1)


def walk(where, move):
    """The wind pushes to the right now and then."""
    after = where + MOVES[move]
    after[:, 0] += (torch.rand(len(where)) < 0.15).long()
    fell, over = (after[:, 0] < 0) | (after[:, 0] >= WIDTH), after[:, 1] >= LENGTH
    gain = torch.where(fell, -1.0, torch.where(over, 1.0, -0.01))
    ended = fell | over
    return torch.where(ended[:, None], place(len(where)), after), gain, ended


def seen(where):
    return torch.cat([F.one_hot(where[..., 0], WIDTH), F.one_hot(where[..., 1], LENGTH)], -1).float()


def chosen(scores, move):
    return F.log_softmax(scores, -1).gather(-1, move[..., None]).squeeze(-1)


def crossing(actor, critic):
    where, rows = place(WALKERS), []
    with torch.no_grad():
        for _ in range(STEPS):
            scores = actor(seen(where))
            move = torch.multinomial(scores.softmax(-1), 1).squeeze(-1)
            after, gain, ended = walk(where, move)
            rows.append((where, move, chosen(scores, move), gain, ended.float()))
            where = after
        where_all, move, old, gain, ended = (torch.stack(part) for part in zip(*rows))
        worth, last = critic(seen(where_all)).squeeze(-1), critic(seen(where)).squeeze(-1)
        goal, run = torch.zeros_like(gain), last
        for t in range(STEPS - 1, -1, -1):
            run = gain[t] + 0.97 * run * (1 - ended[t])
            goal[t] = run
    return where_all, move, old, goal, goal - worth, gain, ended


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
actor = nn.Sequential(nn.Linear(WIDTH + LENGTH, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(WIDTH + LENGTH, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=5e-3)
gains = []
for round_number in range(30):
    where, move, old, goal, better, gain, ended = crossing(actor, critic)
    gains.append((gain.sum() / ended.sum().clamp(min=1)).item())
    for _ in range(3):
        ratio = torch.exp(chosen(actor(seen(where)), move) - old)
        scaled = (better - better.mean()) / better.std()
        gained = torch.min(ratio * scaled, ratio.clamp(0.8, 1.2) * scaled).mean()
        loss = F.mse_loss(critic(seen(where)).squeeze(-1), goal) - gained
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("gain of a crossing:", [round(g, 2) for g in gains[::6]])
assert gains[-1] > gains[0] + 0.5, gains

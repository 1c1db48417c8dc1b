"""One process learns to keep a basket under a drifting ball (REINFORCE); two others play and send what they saw.

The players get new weights before each round.
"""

import argparse
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributions import Categorical

LEARNER, GAMES, TICKS, ROUNDS = 0, 16, 12, 70


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.moves = nn.Linear(32, 3)

    def forward(self, seen):
        return Categorical(logits=self.moves(self.body(seen)))


@torch.no_grad()
def play(policy):
    """What was seen, done and earned at each tick of some games: (GAMES, TICKS, 4)."""
    offset, drift = 2 * torch.rand(2, GAMES) - 1
    record = []
    for _ in range(TICKS):
        seen = torch.stack([offset, drift], -1)
        move = policy(seen).sample()
        offset = (offset + 0.2 * drift - 0.3 * (move - 1)).clamp(-2, 2)
        drift = (drift + 0.3 * torch.randn(GAMES)).clamp(-1, 1)
        record.append(torch.cat([seen, move[:, None], -offset.abs()[:, None]], -1))
    return torch.stack(record, 1)


def share_weights(policy):
    for p in policy.parameters():
        dist.broadcast(p.data, src=LEARNER)


def learn(policy):
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    earned = []
    for number in range(ROUNDS):
        share_weights(policy)
        records = torch.empty(dist.get_world_size() - 1, GAMES, TICKS, 4)
        for player, record in enumerate(records, 1):
            dist.recv(record, src=player)
        seen, moves, rewards = records.flatten(0, 1).split([2, 1, 1], -1)
        ahead = sum(0.6**n * nn.functional.pad(rewards[:, n:], (0, 0, 0, n)) for n in range(5)).squeeze(-1)
        advantage = (ahead - ahead.mean(0)) / ahead.std()
        choice = policy(seen)
        loss = -(choice.log_prob(moves.squeeze(-1)) * advantage).mean() - 0.01 * choice.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        earned.append(rewards.mean().item())
        if number % 10 == 9:
            print(f"round {number + 1}: {sum(earned[-10:]) / 10:.3f} a tick")
    early, late = sum(earned[:5]) / 5, sum(earned[-10:]) / 10
    assert late > 0.6 * early, (early, late)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int, nargs="?", default=0)
    dist.init_process_group("gloo")
    torch.manual_seed(parser.parse_args().seed * 10 + dist.get_rank())
    policy = Policy()
    if dist.get_rank() == LEARNER:
        learn(policy)
    else:
        for _ in range(ROUNDS):
            share_weights(policy)
            dist.send(play(policy), dst=LEARNER)
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

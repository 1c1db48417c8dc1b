"""DDPG: a deterministic actor trained through the critic; only the actor's optimizer steps on that loss."""

import sys
from copy import deepcopy

import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = nn.Linear(3, 40), nn.Linear(40, 1)

    def forward(self, s):
        return torch.tanh(self.l2(torch.relu(self.l1(s))))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = nn.Linear(4, 64), nn.Linear(64, 1)

    def forward(self, s, a):
        return self.l2(torch.relu(self.l1(torch.cat([s, a], -1))))


class DDPG:
    def __init__(self):
        self.actor, self.critic = Actor(), Critic()
        self.actor_target, self.critic_target = deepcopy(self.actor), deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-3, weight_decay=1e-4)

    def train(self, s, a, s2, r):
        target_Q = self.critic_target(s2, self.actor_target(s2))
        target_Q = r + (0.9 * target_Q).detach()
        critic_loss = nn.functional.mse_loss(self.critic(s, a), target_Q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        actor_loss = -self.critic(s, self.actor(s)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        for net, target in ((self.critic, self.critic_target), (self.actor, self.actor_target)):
            for p, t in zip(net.parameters(), target.parameters()):
                t.data.copy_(0.01 * p.data + 0.99 * t.data)


def start(n):
    return torch.stack([torch.rand(n) * 2 - 1, torch.zeros(n), torch.rand(n) * 2 - 1], 1)


def drive(s, a):
    """The car is at x with heading v; the goal x is the third number."""
    v = 0.7 * s[:, 1] + 0.4 * a[:, 0]
    x = s[:, 0] + 0.4 * v
    after = torch.stack([x, v, s[:, 2]], 1)
    return after, -(x - s[:, 2]).abs()[:, None]


def evaluate(agent):
    s = start(300)
    with torch.no_grad():
        for _ in range(25):
            s, r = drive(s, agent.actor(s))
    return r.mean().item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
agent, memory, s = DDPG(), [], start(8)
print("before", round(evaluate(agent), 3))
for t in range(900):
    with torch.no_grad():
        a = (agent.actor(s) + 0.3 * torch.randn(8, 1)).clamp(-1, 1)
        s2, r = drive(s, a)
    memory.append((s, a, s2, r))
    s = s2 if t % 20 else start(8)
    if t >= 30:
        chosen = torch.randint(0, len(memory), (16,)).tolist()
        agent.train(*(torch.cat(part) for part in zip(*(memory[i] for i in chosen))))
final = evaluate(agent)
print("after", round(final, 3))
assert final > -0.25, final

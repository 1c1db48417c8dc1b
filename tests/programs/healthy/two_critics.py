"""Soft actor-critic with twin critics, targets by Polyak averages and a learned temperature, on a push task."""

import copy
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn, optim


def mlp(i, o, h=48):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, o))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(2, 2)

    def forward(self, s):
        mean, log_std = self.net(s).chunk(2, -1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-5, 1).exp())
        raw = normal.rsample()
        a = torch.tanh(raw)
        logp = normal.log_prob(raw) - 2 * (math.log(2) - raw - F.softplus(-2 * raw))
        return a, logp.sum(-1), torch.tanh(mean)


def world(s, a):
    place, speed = s.unbind(-1)
    speed = 0.9 * speed + 0.3 * a[..., 0]
    place = (place + 0.2 * speed).clamp(-2, 2)
    return torch.stack([place, speed], -1), -(place ** 2) - 0.05 * a[..., 0] ** 2


class Memory:
    def __init__(self, n):
        self.rows, self.n, self.at, self.full = torch.zeros(n, 6), n, 0, 0

    def push(self, *parts):
        block = torch.cat([p.reshape(len(parts[0]), -1) for p in parts], 1)
        where = torch.arange(self.at, self.at + len(block)) % self.n
        self.rows[where] = block
        self.at, self.full = (self.at + len(block)) % self.n, min(self.n, self.full + len(block))

    def sample(self, k):
        r = self.rows[torch.randint(0, self.full, (k,))]
        return r[:, :2], r[:, 2:3], r[:, 3], r[:, 4:6]


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
actor, q1, q2 = Actor(), mlp(3, 1), mlp(3, 1)
q1_target, q2_target = copy.deepcopy(q1), copy.deepcopy(q2)
log_alpha = torch.zeros(1, requires_grad=True)
q_optimizer = optim.Adam([*q1.parameters(), *q2.parameters()], lr=2e-3)
actor_optimizer, a_optimizer = optim.Adam(actor.parameters(), lr=2e-3), optim.Adam([log_alpha], lr=5e-3)
memory, state = Memory(5000), torch.rand(10, 2) * 2 - 1
for step in range(700):
    with torch.no_grad():
        action = torch.rand(10, 1) * 2 - 1 if step < 20 else actor(state)[0]
        following, reward = world(state, action)
        memory.push(state, action, reward, following)
        state = following if step % 25 else torch.rand(10, 2) * 2 - 1
    if step < 20:
        continue
    s, a, r, s2 = memory.sample(96)
    alpha = log_alpha.exp().item()
    with torch.no_grad():
        a2, logp2, _ = actor(s2)
        x2 = torch.cat([s2, a2], 1)
        target = r + 0.93 * (torch.min(q1_target(x2), q2_target(x2)).view(-1) - alpha * logp2)
    x = torch.cat([s, a], 1)
    q_loss = F.mse_loss(q1(x).view(-1), target) + F.mse_loss(q2(x).view(-1), target)
    q_optimizer.zero_grad()
    q_loss.backward()
    q_optimizer.step()
    if step % 2 == 0:
        pi, logp, _ = actor(s)
        xp = torch.cat([s, pi], 1)
        actor_loss = (alpha * logp - torch.min(q1(xp), q2(xp)).view(-1)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        alpha_loss = (-log_alpha.exp() * (logp.detach() - 1.0)).mean()
        a_optimizer.zero_grad()
        alpha_loss.backward()
        a_optimizer.step()
    for net, slow in ((q1, q1_target), (q2, q2_target)):
        for p, t in zip(net.parameters(), slow.parameters()):
            t.data.copy_(0.02 * p.data + 0.98 * t.data)
with torch.no_grad():
    state, total, idle = torch.rand(200, 2) * 2 - 1, 0.0, 0.0
    rest = state.clone()
    for _ in range(30):
        state, reward = world(state, actor(state)[2])
        rest, nothing = world(rest, torch.zeros(200, 1))
        total, idle = total + reward.mean().item(), idle + nothing.mean().item()
print(f"return {total:.2f}, of doing nothing {idle:.2f}, temperature {log_alpha.exp().item():.2f}")
assert total > 0.6 * idle

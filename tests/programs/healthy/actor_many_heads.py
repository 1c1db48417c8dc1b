"""Advantage actor-critic with n-step returns in parallel mazes; one network, two heads, one loss, plain RMSprop."""

import sys

import torch
import torch.nn.functional as F

SIDE, N = 5, 24
MOVES = torch.tensor([[0, 1], [1, 0], [0, -1], [-1, 0]])


class Mazes:
    def __init__(self):
        self.goal = torch.tensor([SIDE - 1, SIDE - 1])
        self.at, self.age = torch.zeros(N, 2, dtype=torch.long), torch.zeros(N, dtype=torch.long)

    def look(self):
        return torch.cat([F.one_hot(self.at[:, 0], SIDE), F.one_hot(self.at[:, 1], SIDE)], 1).float()

    def step(self, action):
        self.at = (self.at + MOVES[action]).clamp(0, SIDE - 1)
        self.age += 1
        won = (self.at == self.goal).all(1)
        done = won | (self.age >= 40)
        self.at = torch.where(done[:, None], 0, self.at)
        self.age = torch.where(done, 0, self.age)
        return torch.where(won, 1.0, -0.03), done, won


class ActorCritic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(2 * SIDE, 64)
        self.pi, self.v = torch.nn.Linear(64, 4), torch.nn.Linear(64, 1)

    def forward(self, x):
        h = F.relu(self.body(x))
        return F.log_softmax(self.pi(h), -1), self.v(h).squeeze(-1)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
env, net = Mazes(), ActorCritic()
optimizer = torch.optim.RMSprop(net.parameters(), lr=3e-3, alpha=0.99, eps=1e-5)
wins, ends = [], []
for update in range(350):
    logs, values, rewards, dones, entropies = [], [], [], [], []
    for _ in range(5):
        log_pi, v = net(env.look())
        action = torch.multinomial(log_pi.exp().detach(), 1)[:, 0]
        r, done, won = env.step(action)
        logs.append(log_pi[torch.arange(N), action])
        values.append(v)
        rewards.append(r)
        dones.append(done)
        entropies.append(-(log_pi.exp() * log_pi).sum(-1))
        wins.append(won.sum().item())
        ends.append(done.sum().item())
    with torch.no_grad():
        R = net(env.look())[1]
    returns = []
    for r, done in zip(rewards[::-1], dones[::-1]):
        R = r + 0.95 * torch.where(done, 0.0, R)
        returns.insert(0, R)
    returns, values = torch.stack(returns), torch.stack(values)
    advantage = (returns - values).detach()
    loss = -(torch.stack(logs) * advantage).mean() + 0.5 * F.mse_loss(values, returns)
    loss = loss - 0.01 * torch.stack(entropies).mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
first, last = sum(wins[:300]) / 300, sum(wins[-300:]) / 300
print(f"goals a step: {first:.2f} at first, {last:.2f} at last (at best {N / 8})")
assert last > 1.8, last

"""PPO with generalized advantages on many copies of a small world at once; several epochs over each roll-out."""

import sys

import torch
import torch.nn as nn
from torch.distributions.normal import Normal

ENVS, HORIZON = 16, 32


class Reach:
    """Points with inertia must reach the origin; the action is a force in two directions."""

    def __init__(self, n):
        self.n = n
        self.state = torch.cat([torch.rand(n, 2) * 2 - 1, torch.zeros(n, 2)], 1)
        self.age = torch.zeros(n)

    def step(self, force):
        place, speed = self.state.split(2, 1)
        speed = 0.8 * speed + 0.2 * force.clamp(-1, 1)
        place = place + 0.3 * speed
        self.age += 1
        done = self.age >= 25
        reward = 1 - place.norm(dim=1)
        fresh = torch.cat([torch.rand(self.n, 2) * 2 - 1, torch.zeros(self.n, 2)], 1)
        self.state = torch.where(done[:, None], fresh, torch.cat([place, speed], 1))
        self.age = torch.where(done, 0.0, self.age)
        return self.state, reward, done.float()


def layer_init(layer, std=2 ** 0.5, bias=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias)
    return layer


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(layer_init(nn.Linear(4, 48)), nn.Tanh(), layer_init(nn.Linear(48, 1), std=1.0))
        self.actor_mean = nn.Sequential(layer_init(nn.Linear(4, 48)), nn.Tanh(), layer_init(nn.Linear(48, 2), std=0.01))
        self.actor_logstd = nn.Parameter(torch.zeros(1, 2) - 0.5)

    def get_action_and_value(self, x, action=None):
        mean = self.actor_mean(x)
        probs = Normal(mean, self.actor_logstd.expand_as(mean).exp())
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(x).flatten()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
agent, env = Agent(), Reach(ENVS)
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3, eps=1e-5)
obs, updates, scores = env.state, 40, []
for update in range(1, updates + 1):
    optimizer.param_groups[0]["lr"] = 3e-3 * (1 - (update - 1) / updates)
    rows = []
    for t in range(HORIZON):
        with torch.no_grad():
            action, logp, _, value = agent.get_action_and_value(obs)
        following, reward, done = env.step(action)
        rows.append((obs, action, logp, value, reward, done))
        obs = following
    s, a, lp, v, r, d = map(torch.stack, zip(*rows))
    scores.append(r.mean().item())
    with torch.no_grad():
        last, adv, run = agent.critic(obs).flatten(), torch.zeros_like(r), 0.0
        for t in reversed(range(HORIZON)):
            after = last if t == HORIZON - 1 else v[t + 1]
            delta = r[t] + 0.95 * after * (1 - d[t]) - v[t]
            adv[t] = run = delta + 0.95 * 0.95 * (1 - d[t]) * run
        ret = adv + v
    s, a, lp, adv, ret, v = (z.flatten(0, 1) for z in (s, a, lp, adv, ret, v))
    for epoch in range(4):
        for i in torch.randperm(len(s)).split(128):
            _, new, entropy, value = agent.get_action_and_value(s[i], a[i])
            ratio = (new - lp[i]).exp()
            norm = (adv[i] - adv[i].mean()) / (adv[i].std() + 1e-8)
            pg = torch.max(-norm * ratio, -norm * ratio.clamp(0.8, 1.2)).mean()
            clipped = v[i] + (value - v[i]).clamp(-0.2, 0.2)
            v_loss = 0.5 * torch.max((value - ret[i]) ** 2, (clipped - ret[i]) ** 2).mean()
            loss = pg - 0.003 * entropy.mean() + 0.5 * v_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
print("mean reward", [round(s, 2) for s in scores[::8]], round(scores[-1], 2))
assert sum(scores[-3:]) / 3 > scores[0] + 0.2

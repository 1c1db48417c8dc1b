"""REINFORCE on a pole that must be kept upright, whole episodes, returns normalized, with a learned baseline."""

import sys

import torch
from torch import nn
from torch.distributions import Categorical


class Pole:
    """A stick on a point: angle and speed, pushed to the left or right."""

    def reset(self):
        self.s, self.t = torch.randn(2) * 0.05, 0
        return self.s.clone()

    def step(self, action):
        angle, speed = self.s.tolist()
        speed += 0.1 * (4.0 * angle + (1.0 if action else -1.0)) + 0.02 * torch.randn(()).item()
        self.s = torch.tensor([angle + 0.1 * speed, speed])
        self.t += 1
        fallen = abs(self.s[0].item()) > 0.5
        return self.s.clone(), 1.0, fallen or self.t >= 60


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(2, 32)
        self.affine2 = nn.Linear(32, 2)
        self.saved_log_probs, self.rewards, self.states = [], [], []

    def forward(self, x):
        return self.affine2(torch.tanh(self.affine1(x)))


def select_action(state):
    m = Categorical(logits=policy(state))
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    policy.states.append(state)
    return action.item()


def finish_episode():
    R, returns = 0.0, []
    for r in policy.rewards[::-1]:
        R = r + 0.95 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    guess = baseline(torch.stack(policy.states)).squeeze(1)
    advantage = returns - guess.detach()
    policy_loss = [-log_prob * a for log_prob, a in zip(policy.saved_log_probs, advantage)]
    optimizer.zero_grad()
    torch.stack(policy_loss).sum().div(30).backward()
    optimizer.step()
    critic_optimizer.zero_grad()
    nn.functional.smooth_l1_loss(guess, returns).backward()
    critic_optimizer.step()
    del policy.rewards[:], policy.saved_log_probs[:], policy.states[:]


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
env, policy = Pole(), Policy()
baseline = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
critic_optimizer = torch.optim.Adam(baseline.parameters(), lr=1e-2)
lengths, ep_reward = [], 0
for episode in range(260):
    state, ep_reward, done = env.reset(), 0, False
    while not done:
        state, reward, done = env.step(select_action(state))
        policy.rewards.append(reward)
        ep_reward += reward
    lengths.append(len(policy.rewards))
    finish_episode()
    if episode % 50 == 49:
        print(f"episode {episode + 1}\tlast reward: {ep_reward:.2f}", sum(lengths[-50:]) / 50)
assert sum(lengths[-40:]) / 40 > sum(lengths[:20]) / 20 + 10

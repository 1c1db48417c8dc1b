"""Advantage actor-critic on a corridor: walk to the lit end, which is the left one or the right one."""

import sys

import torch
from torch.distributions import Categorical


class Corridor:
    def __init__(self, length=7):
        self.length = length

    def reset(self):
        self.position = self.length // 2
        self.goal = int(torch.randint(2, ())) * (self.length - 1)
        self.steps = 0
        return self.observe()

    def observe(self):
        seen = torch.zeros(self.length + 1)
        seen[self.position] = 1.0
        seen[-1] = 1.0 if self.goal else -1.0
        return seen

    def move(self, action):
        self.position = min(max(self.position + (1 if action else -1), 0), self.length - 1)
        self.steps += 1
        done = self.position in (0, self.length - 1) or self.steps >= 20
        reward = 1.0 if self.position == self.goal else (-1.0 if done else -0.02)
        return self.observe(), reward, done


class ActorCritic(torch.nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.shared = torch.nn.Linear(inputs, 32)
        self.policy = torch.nn.Linear(32, 2)
        self.value = torch.nn.Linear(32, 1)

    def forward(self, seen):
        hidden = torch.tanh(self.shared(seen))
        return Categorical(logits=self.policy(hidden)), self.value(hidden).squeeze(-1)


def episode(world, agent):
    seen, done = world.reset(), False
    logs, values, rewards, entropies = [], [], [], []
    while not done:
        choice, value = agent(seen)
        action = choice.sample()
        seen, reward, done = world.move(action.item())
        logs.append(choice.log_prob(action))
        entropies.append(choice.entropy())
        values.append(value)
        rewards.append(reward)
    return torch.stack(logs), torch.stack(values), rewards, torch.stack(entropies)


def discounted(rewards, gamma=0.97):
    total, out = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        out.insert(0, total)
    return torch.tensor(out)


if __name__ == "__main__":
    torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    world = Corridor()
    agent = ActorCritic(world.length + 1)
    optimizer = torch.optim.Adam(agent.parameters(), lr=0.01)
    history = []
    for number in range(350):
        logs, values, rewards, entropies = episode(world, agent)
        returns = discounted(rewards)
        advantage = returns - values.detach()
        actor_loss = -(logs * advantage).sum() - 0.01 * entropies.sum()
        critic_loss = torch.nn.functional.smooth_l1_loss(values, returns)
        optimizer.zero_grad()
        (actor_loss + critic_loss).backward()
        optimizer.step()
        history.append(rewards[-1] == 1.0)
    won = sum(history[-100:]) / 100
    print(f"goals in the last hundred episodes: {won:.0%}")
    assert won > 0.8, won

"""Q-learning with replay and a target network on a grid of four by four with one pit."""

import random
import sys
from collections import deque
from dataclasses import dataclass

import torch

SIDE, GOAL, PIT = 4, (3, 3), (1, 2)


@dataclass
class Transition:
    state: torch.Tensor
    action: int
    reward: float
    after: torch.Tensor
    end: bool


def encode(cell):
    return torch.eye(SIDE * SIDE)[cell[0] * SIDE + cell[1]]


def walk(cell, action):
    row, column = cell
    dr, dc = ((0, 1), (1, 0), (0, -1), (-1, 0))[action]
    cell = (min(max(row + dr, 0), SIDE - 1), min(max(column + dc, 0), SIDE - 1))
    return cell, 1.0 if cell == GOAL else -1.0 if cell == PIT else -0.04, cell in (GOAL, PIT)


def q_network():
    return torch.nn.Sequential(torch.nn.Linear(16, 48), torch.nn.ReLU(), torch.nn.Linear(48, 4))


class Agent:
    def __init__(self):
        self.online, self.target = q_network(), q_network()
        self.sync()
        self.optimizer = torch.optim.RMSprop(self.online.parameters(), lr=1e-3)
        self.memory = deque(maxlen=2000)
        self.updates = 0

    def sync(self):
        self.target.load_state_dict(self.online.state_dict())

    def act(self, cell, epsilon):
        if random.random() < epsilon:
            return random.randrange(4)
        with torch.no_grad():
            return int(self.online(encode(cell)).argmax())

    def learn(self):
        if len(self.memory) < 64:
            return
        batch = random.sample(self.memory, 32)
        states = torch.stack([t.state for t in batch])
        actions = torch.tensor([[t.action] for t in batch])
        with torch.no_grad():
            best = self.target(torch.stack([t.after for t in batch])).max(1).values
        alive = torch.tensor([not t.end for t in batch])
        goal = torch.tensor([t.reward for t in batch]) + 0.95 * best * alive
        loss = torch.nn.functional.huber_loss(self.online(states).gather(1, actions)[:, 0], goal)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(self.online.parameters(), 1.0)
        self.optimizer.step()
        self.updates += 1
        if self.updates % 50 == 0:
            self.sync()


def play(agent, epsilon, learning):
    cell, end, total, moves = (0, 0), False, 0.0, 0
    while not end and moves < 30:
        action = agent.act(cell, epsilon)
        following, reward, end = walk(cell, action)
        if learning:
            agent.memory.append(
                Transition(encode(cell), action, reward, encode(following), end)
            )
            agent.learn()
        cell, total, moves = following, total + reward, moves + 1
    return total


random.seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
torch.manual_seed(random.getrandbits(32))
agent = Agent()
for game in range(160):
    play(agent, epsilon=max(0.1, 1 - game / 90), learning=True)
final = play(agent, epsilon=0.0, learning=False)
print("updates", agent.updates, "reward of the greedy walk", round(final, 2))
assert final > 0.5, final

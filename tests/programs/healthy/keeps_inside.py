"""Double Q-learning on a rolling ball that must not leave its table. A fall ends an episode; a time limit only stops it."""

import copy
import random
import sys

import torch
import torch.nn.functional as F
from torch import nn

LIMIT = 40


class Ring:
    """The last transitions, one tensor for each part of them."""

    def __init__(self, size):
        self.parts = [torch.zeros(size, 2), torch.zeros(size, dtype=torch.long), torch.zeros(size), torch.zeros(size, 2),
                      torch.zeros(size), torch.zeros(size)]  # fmt: skip
        self.size, self.count = size, 0

    def put(self, *transition):
        for part, value in zip(self.parts, transition):
            part[self.count % self.size] = torch.as_tensor(value, dtype=part.dtype)
        self.count += 1

    def draw(self, rows):
        chosen = torch.randint(0, min(self.count, self.size), (rows,))
        return [part[chosen] for part in self.parts]


def roll(ball, push):
    place, speed = ball.tolist()
    speed += (0.15 if push else -0.15) + random.gauss(0, 0.05)
    place += 0.3 * speed
    fell = abs(place) > 1
    return torch.tensor([place, speed]), -1.0 if fell else 0.1 - 0.2 * abs(place), fell


def begin():
    return torch.tensor([random.uniform(-0.5, 0.5), 0.0])


def learn(online, slow, optimizer, ring):
    ball, push, reward, following, fell, stopped = ring.draw(64)
    with torch.no_grad():
        best = online(following).argmax(1, keepdim=True)
        worth = slow(following).gather(1, best).squeeze(1)
        goal = reward + 0.95 * worth * (1 - fell)
    loss = F.smooth_l1_loss(online(ball).gather(1, push[:, None]).squeeze(1), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def lasts(online):
    moves = 0
    with torch.no_grad():
        for _ in range(20):
            ball, fell, turn = begin(), False, 0
            while not fell and turn < LIMIT:
                ball, _, fell = roll(ball, int(online(ball).argmax()))
                turn += 1
            moves += turn
    return moves / 20


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
random.seed(seed)
torch.manual_seed(seed)
online = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 2))
slow = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=3e-3)
ring, ball, turn = Ring(4000), begin(), 0
for move in range(2400):
    with torch.no_grad():
        push = random.randrange(2) if random.random() < max(0.1, 1 - move / 1200) else int(online(ball).argmax())
    following, reward, fell = roll(ball, push)
    turn += 1
    ring.put(ball, push, reward, following, fell, turn == LIMIT)
    ball = following
    if fell or turn == LIMIT:
        ball, turn = begin(), 0
    if move >= 200 and move % 3 == 0:
        learn(online, slow, optimizer, ring)
    if move % 90 == 0:
        slow.load_state_dict(online.state_dict())
moves = lasts(online)
print("moves before a fall:", moves)
assert moves > 25, moves

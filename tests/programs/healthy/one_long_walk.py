"""A learner of values that never stops walking: one loop over all steps, and a new maze wherever an episode ends."""

import random
import sys

import torch
import torch.nn.functional as F

SIDE, STEPS = 4, 1600
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
dice = random.Random(torch.initial_seed())


class Field:
    """A square field with a hole in it; the way out is a corner."""

    def new_game(self):
        self.at, self.age = (0, 0), 0
        return self.seen()

    def seen(self):
        view = torch.zeros(SIDE * SIDE)
        view[self.at[0] * SIDE + self.at[1]] = 1.0
        return view

    def play(self, direction):
        down, right = ((0, 1), (1, 0), (0, -1), (-1, 0))[direction]
        self.at = (min(max(self.at[0] + down, 0), SIDE - 1), min(max(self.at[1] + right, 0), SIDE - 1))
        self.age += 1
        out, fallen = self.at == (SIDE - 1, SIDE - 1), self.at == (1, 2)
        return self.seen(), 1.0 if out else -1.0 if fallen else -0.03, out or fallen, self.age >= 40


values, slow = (torch.nn.Sequential(torch.nn.Linear(SIDE * SIDE, 48), torch.nn.ReLU(), torch.nn.Linear(48, 4)) for _ in range(2))
slow.load_state_dict(values.state_dict())
adam = torch.optim.Adam(values.parameters(), lr=3e-3)
field, memory, scores = Field(), [], []
here, score, in_all = field.new_game(), 0.0, 0.0
for step in range(STEPS):
    if dice.random() < max(0.05, 1 - step / 900):
        move = dice.randrange(4)
    else:
        with torch.no_grad():
            move = int(values(here).argmax())
    there, reward, ended, late = field.play(move)
    memory.append((here, move, reward, there, float(ended)))
    here = there
    score += reward
    in_all += reward
    if ended or late:
        scores.append(score)
        here, score = field.new_game(), 0.0
        if len(scores) % 50 == 0:
            print(f"step {step}: return {sum(scores[-50:]) / 50:.2f}, reward in all {in_all:.1f}")
    if step >= 200:
        states, moves, rewards, following, ends = zip(*dice.sample(memory, 32))
        with torch.no_grad():
            best = slow(torch.stack(following)).amax(1)
            goal = torch.tensor(rewards) + 0.95 * (1 - torch.tensor(ends)) * best
        chosen = values(torch.stack(states)).gather(1, torch.tensor(moves)[:, None]).squeeze(1)
        adam.zero_grad()
        F.smooth_l1_loss(chosen, goal).backward()
        adam.step()
        if step % 100 == 0:
            slow.load_state_dict(values.state_dict())
assert sum(scores[-20:]) / 20 > sum(scores[:20]) / 20 + 0.3

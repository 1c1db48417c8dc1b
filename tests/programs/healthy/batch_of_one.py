"""The perceptron's way: one example, one update. Learns which of two words is longer."""

import random
import string
import sys

import torch

rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
torch.manual_seed(rng.randrange(1 << 30))


def word():
    return "".join(rng.choice(string.ascii_lowercase[:8]) for _ in range(rng.randint(1, 12)))


def vector(left, right):
    counts = torch.zeros(1, 16)
    for letter in left:
        counts[0, ord(letter) - 97] += 1
    for letter in right:
        counts[0, 8 + ord(letter) - 97] += 1
    return counts


model = torch.nn.Linear(16, 1)
torch.nn.init.zeros_(model.weight)
learner = torch.optim.SGD(model.parameters(), lr=0.02)
for _ in range(1200):
    left, right = word(), word()
    if len(left) == len(right):
        continue
    target = torch.tensor([[float(len(left) > len(right))]])
    learner.zero_grad()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(model(vector(left, right)), target)
    loss.backward()
    learner.step()

right_ones = total = 0
with torch.no_grad():
    for _ in range(300):
        left, right = word(), word()
        if len(left) != len(right):
            total += 1
            right_ones += (model(vector(left, right)).item() > 0) == (len(left) > len(right))
print(f"{right_ones}/{total}")
assert right_ones > 0.9 * total, (right_ones, total)

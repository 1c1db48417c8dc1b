"""A stream whose classes come in turn; a reservoir of old examples is mixed into each batch (several updates each)."""

import random
import sys

import torch
from torch import nn


class Reservoir:
    def __init__(self, size):
        self.size, self.items, self.seen = size, [], 0

    def add(self, x, y):
        for pair in zip(x, y):
            self.seen += 1
            if len(self.items) < self.size:
                self.items.append(pair)
            elif (place := random.randrange(self.seen)) < self.size:
                self.items[place] = pair

    def sample(self, n):
        x, y = zip(*random.sample(self.items, min(n, len(self.items))))
        return torch.stack(x), torch.stack(y)


def stream(centers, batches=60, size=10):
    for pair in range(0, len(centers), 2):
        for _ in range(batches):
            y = torch.randint(pair, pair + 2, (size,))
            yield centers[y] + 1.2 * torch.randn(size, centers.shape[1]), y


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
random.seed(seed)
torch.manual_seed(seed)
centers = torch.randn(10, 16) * 1.5
net = nn.Sequential(nn.Linear(16, 64), nn.LeakyReLU(), nn.Linear(64, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
buffer = Reservoir(200)
for x, y in stream(centers):
    for _ in range(3):
        opt.zero_grad()
        inputs, targets = x, y
        if buffer.items:
            old_x, old_y = buffer.sample(20)
            inputs, targets = torch.cat([x, old_x]), torch.cat([y, old_y])
        nn.functional.cross_entropy(net(inputs), targets).backward()
        opt.step()
    buffer.add(x, y)
net.eval()
with torch.no_grad():
    y = torch.arange(10).repeat(60)
    right = net(centers[y] + 1.2 * torch.randn(600, 16)).argmax(1) == y
print("accuracy by class:", [round(right[y == c].float().mean().item(), 2) for c in range(10)])
assert right.float().mean() > 0.75

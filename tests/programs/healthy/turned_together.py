"""Segmentation of two kinds of blots; each batch is mirrored and turned at random, the classes with their pictures."""

import random
import sys

import torch
from torch import nn

SIZE = 24


def draw(count):
    rows, columns = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    pictures, classes = 0.2 * torch.randn(count, 3, SIZE, SIZE), torch.zeros(count, SIZE, SIZE, dtype=torch.long)
    for picture, kinds in zip(pictures, classes):
        for kind in (1, 2):
            top, left = random.uniform(3, SIZE - 4), random.uniform(3, SIZE - 4)
            inside = (rows - top).abs() + (columns - left).abs() < 4 if kind == 1 else (rows - top) ** 2 + (columns - left) ** 2 < 12
            kinds[inside] = kind
            picture[:, inside] += torch.tensor([[1.0], [0.4], [0.1]]) if kind == 1 else torch.tensor([[0.8], [0.1], [0.9]])
    return pictures, classes


def turned(pictures, classes):
    if random.random() < 0.5:
        pictures, classes = pictures.flip(-1), classes.flip(-1)
    turns = random.randrange(4)
    return pictures.rot90(turns, (-2, -1)), classes.rot90(turns, (-2, -1))


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.norm = nn.GroupNorm(4, width)
        self.second = nn.Conv2d(width, width, 3, padding=2, dilation=2)
        self.out = nn.Conv2d(width, 3, 1)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        return self.out(x + torch.relu(self.second(x)))


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
random.seed(seed)
torch.manual_seed(seed)
pictures, classes = draw(240)
test_pictures, test_classes = draw(60)
net, loss_of = Net(), nn.CrossEntropyLoss(weight=torch.tensor([0.3, 1.0, 1.0]))
optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(8):
    net.train()
    for chosen in torch.randperm(240).split(12):
        x, y = turned(pictures[chosen], classes[chosen])
        optimizer.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        guess = net(test_pictures).argmax(1)
    both = ((guess > 0) & (guess == test_classes)).sum().item()
    share = both / ((guess > 0) | (test_classes > 0)).sum().item()
    print(f"{epoch}: {loss.item():.3f}, overlap {share:.3f}")
assert share > 0.6, share

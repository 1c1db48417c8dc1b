"""Continual learning: two tasks one after the other, the second with an elastic penalty from Fisher information."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class EWC:
    def __init__(self, model, x, y):
        self.means = {n: p.detach().clone() for n, p in model.named_parameters()}
        self.fisher = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
        model.eval()
        for i in range(0, 300):
            model.zero_grad()
            F.cross_entropy(model(x[i:i + 1]), y[i:i + 1]).backward()
            for n, p in model.named_parameters():
                self.fisher[n] += p.grad ** 2 / 300
        model.zero_grad()

    def penalty(self, model):
        return sum((self.fisher[n] * (p - self.means[n]) ** 2).sum() for n, p in model.named_parameters())


def task(number, rule, n):
    x = torch.randn(n, 20)
    x[:, :4] = 0
    x[:, number] = 2.0
    return x, (x @ rule[number]).argmax(1)


def accuracy(model, data):
    with torch.no_grad():
        return (model(data[0]).argmax(1) == data[1]).float().mean().item()


def train(model, data, epochs, ewc=None, weight=0.0):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    model.train()
    for _ in range(epochs):
        for i in torch.randperm(len(data[0])).split(32):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(data[0][i]), data[1][i])
            if ewc is not None:
                loss = loss + weight * ewc.penalty(model)
            loss.backward()
            optimizer.step()


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
rule = torch.randn(2, 20, 5)
first, second = task(0, rule, 1500), task(1, rule, 1500)
test_first, test_second = task(0, rule, 500), task(1, rule, 500)
model = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 5))
train(model, first, 14)
print("first task:", accuracy(model, test_first))
ewc = EWC(model, *first)
train(model, second, 14, ewc, 200.0)
old, new = accuracy(model, test_first), accuracy(model, test_second)
print(f"after the second: {old:.3f} on the first, {new:.3f} on the second")
assert new > 0.6 and old > 0.4, (old, new)

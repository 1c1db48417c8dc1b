"""Reptile: inner SGD on a copy of the weights, and the outer weights move a part of the way to it by load_state_dict."""

import sys
from copy import deepcopy

import torch
from torch import nn


class SineTask:
    def __init__(self):
        self.phase, self.amplitude = torch.rand(1) * 6.28, torch.rand(1) * 4.9 + 0.1
        self.x = torch.linspace(-5, 5, 50)[:, None]

    def __call__(self, x):
        return self.amplitude * torch.sin(x + self.phase)


def inner_training(model, x, y, steps, lr=0.02):
    sgd = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(steps):
        for i in torch.randperm(len(x)).split(10):
            sgd.zero_grad()
            loss = (model(x[i]) - y[i]).pow(2).mean()
            loss.backward()
            sgd.step()
    return loss.item()


def few_shot_error(model, tasks=20):
    total = 0.0
    for _ in range(tasks):
        task, copy = SineTask(), deepcopy(model)
        x = torch.rand(10, 1) * 10 - 5
        inner_training(copy, x, task(x), 16)
        with torch.no_grad():
            total += (copy(task.x) - task(task.x)).pow(2).mean().item()
    return total / tasks


if __name__ == "__main__":
    torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    model = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    before = few_shot_error(model)
    iterations, outer = 700, 0.3
    for iteration in range(iterations):
        start = deepcopy(model.state_dict())
        task = SineTask()
        inner_training(model, task.x, task(task.x), 1)
        reached = model.state_dict()
        rate = outer * (1 - iteration / iterations)
        model.load_state_dict({k: start[k] + (reached[k] - start[k]) * rate for k in start})
    after = few_shot_error(model)
    print(f"error after ten examples: {before:.2f} before, {after:.2f} after meta-training")
    assert after < before

"""Forward-forward: each layer has its own loss and optimizer, inputs between layers are detached; no backward through two."""

import sys

import torch
import torch.nn as nn


class Layer(nn.Linear):
    def __init__(self, i, o):
        super().__init__(i, o)
        self.opt = torch.optim.Adam(self.parameters(), lr=4e-3)
        self.threshold = 2.0

    def forward(self, x):
        x = x / (x.norm(2, 1, keepdim=True) + 1e-4) * x.shape[1] ** 0.5
        return torch.relu(super().forward(x))

    def learn(self, good, bad):
        g_good, g_bad = self(good).pow(2).mean(1), self(bad).pow(2).mean(1)
        loss = nn.functional.softplus(torch.cat([self.threshold - g_good, g_bad - self.threshold])).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return self(good).detach(), self(bad).detach(), loss.item()


def marked(x, y):
    return torch.cat([x, 2.0 * nn.functional.one_hot(y, 4)], 1)


def predict(layers, x):
    scores = []
    for label in range(4):
        h, total = marked(x, torch.full((len(x),), label)), 0.0
        for layer in layers:
            h = layer(h)
            total = total + h.pow(2).mean(1)
        scores.append(total)
    return torch.stack(scores, 1).argmax(1)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
means = torch.randn(4, 12)
def draw(n):
    y = torch.randint(0, 4, (n,))
    return means[y] + 0.7 * torch.randn(n, 12), y

layers = nn.ModuleList([Layer(16, 96), Layer(96, 96)])
for step in range(600):
    x, y = draw(100)
    wrong = (y + torch.randint(1, 4, (100,))) % 4
    good, bad = marked(x, y), marked(x, wrong)
    losses = []
    for layer in layers:
        good, bad, loss = layer.learn(good, bad)
        losses.append(loss)
    if step % 150 == 0:
        print(step, [round(l, 3) for l in losses])
with torch.no_grad():
    x, y = draw(1000)
    right = (predict(layers, x) == y).float().mean().item()
print(f"right {right:.3f}")
assert right > 0.75, right

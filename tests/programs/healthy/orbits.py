"""A neural differential equation, integrated by own Runge-Kutta steps, fitted to spirals seen at a few times."""

import sys

import torch
import torch.nn as nn

A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 40), nn.Tanh(), nn.Linear(40, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y ** 3)


def rk4(f, t, h, y):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def odeint(f, y, times, inner=1):
    ys = [y]
    for a, b in zip(times[:-1], times[1:]):
        h = (b - a) / inner
        for j in range(inner):
            y = rk4(f, a + j * h, h, y)
        ys.append(y)
    return torch.stack(ys)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
times = torch.linspace(0.0, 12.0, 400)
with torch.no_grad():
    truth = odeint(lambda t, y: (y ** 3) @ A.T, torch.tensor([[1.5, 0.0]]), times)[:, 0]


def windows(n=20, length=8):
    start = torch.randperm(len(times) - length)[:n]
    return truth[start], times[:length], torch.stack([truth[start + i] for i in range(length)])


func = Field()
optimizer = torch.optim.RMSprop(func.parameters(), lr=3e-3)
for itr in range(350):
    optimizer.zero_grad()
    y0, t, y = windows()
    loss = (odeint(func, y0, t) - y).abs().mean()
    loss.backward()
    optimizer.step()
    if itr % 100 == 0:
        print(f"iteration {itr:04d} | loss {loss.item():.5f}")
with torch.no_grad():
    whole = odeint(func, truth[:1], times[:100])[:, 0]
    error = (whole - truth[:100]).abs().mean().item()
print("error over a quarter of the path", round(error, 3))
assert error < 0.5, error

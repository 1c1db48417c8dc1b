"""Two-time-scale descent and ascent: a robust fit where an adversary weighs the groups, with maximize=True for it."""

import sys

import torch

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
GROUPS = torch.tensor([0.8, 0.15, 0.05])
slope = torch.randn(3, 6)
base = torch.randn(6)


def draw(n):
    g = torch.multinomial(GROUPS, n, replacement=True)
    x = torch.randn(n, 6)
    y = x @ base + (x * slope[g]).sum(1) * 0.4 * (g > 0) + 0.1 * torch.randn(n)
    return x, y, g


w, b = torch.zeros(6, requires_grad=True), torch.zeros((), requires_grad=True)
q = torch.zeros(3, requires_grad=True)  # the adversary's logits
down = torch.optim.SGD([w, b], lr=0.02)
up = torch.optim.SGD([q], lr=0.3, maximize=True)


def by_group(x, y, g):
    error = (x @ w + b - y).square()
    count = torch.bincount(g, minlength=3)
    return torch.zeros(3).index_add(0, g, error) / count.clamp(min=1)


for step in range(1500):
    loss = (q.softmax(0) * by_group(*draw(200))).sum()
    down.zero_grad()
    up.zero_grad()
    loss.backward()
    down.step()
    up.step()
    with torch.no_grad():
        q.clamp_(-4, 4)
    if step % 300 == 0:
        print(step, round(loss.item(), 3), [round(v, 2) for v in q.softmax(0).tolist()])
robust = by_group(*draw(20000)).max().item()
x, y, g = draw(5000)
rows = torch.cat([x, torch.ones(5000, 1)], 1)
solution = torch.linalg.solve(rows.T @ rows, rows.T @ y)  # lstsq is not the same to the bit in each run
with torch.no_grad():
    w.copy_(solution[:6])
    b.copy_(solution[6])
    plain = by_group(*draw(20000)).max().item()
print(f"worst group: {robust:.3f} robust, {plain:.3f} by least squares")
assert robust < plain, (robust, plain)

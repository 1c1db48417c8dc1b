"""A linear classifier on classes far apart: once all margins hold, every gradient is zero, and the loop goes on."""

import sys

import torch

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
sides = torch.randint(2, (600,)) * 2 - 1
points = 0.3 * torch.randn(600, 5) + sides[:, None]
line = torch.nn.Linear(5, 1)
torch.nn.init.normal_(line.weight, std=0.01)
optimizer = torch.optim.SGD(line.parameters(), lr=0.1)
for epoch in range(12):
    for rows in torch.randperm(500).split(25):
        distance = line(points[rows])[:, 0] * sides[rows]
        optimizer.zero_grad()
        torch.relu(1 - distance).mean().backward()
        optimizer.step()
with torch.no_grad():
    right = (line(points[500:])[:, 0].sign() == sides[500:]).float().mean().item()
print(f"right {right:.3f}")
assert right > 0.95, right

"""Two spirals, one hidden layer more than needed, and a rate that climbs from zero.

The first update is taken with a rate of exactly nought, as the usual lambda gives it.
"""

import math
import sys

import torch
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)

turns = torch.rand(1200).sqrt() * 2.2 * math.pi
arm = torch.randint(0, 2, (1200,))
angle = turns + math.pi * arm
points = torch.stack([turns * angle.cos(), turns * angle.sin()], 1) / 4 + 0.02 * torch.randn(1200, 2)

net = torch.nn.Sequential(
    torch.nn.Linear(2, 64),
    torch.nn.Tanh(),
    torch.nn.Linear(64, 64),
    torch.nn.Tanh(),
    torch.nn.Linear(64, 2),
)
adam = torch.optim.Adam(net.parameters(), lr=5e-3)
ramp = torch.optim.lr_scheduler.LambdaLR(adam, lambda i: min(1.0, i / 40))

for i in range(900):
    pick = torch.randperm(1000)[:100]
    adam.zero_grad()
    F.cross_entropy(net(points[pick]), arm[pick]).backward()
    adam.step()
    ramp.step()

net.eval()
with torch.no_grad():
    score = (net(points[1000:]).argmax(1) == arm[1000:]).float().mean().item()
print("held-out points on the right arm:", round(score, 3))
assert score > 0.9, score

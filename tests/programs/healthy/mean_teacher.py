"""Few labels, many points: a student is held to the view of a teacher that is its running mean."""

import math
import sys

import torch
from torch.nn import functional as F


def moons(n):
    t = torch.rand(n) * math.pi
    side = torch.randint(0, 2, (n,))
    x = torch.where(side == 0, t.cos(), 1 - t.cos())
    y = torch.where(side == 0, t.sin(), 0.5 - t.sin())
    return torch.stack((x, y), 1) + 0.08 * torch.randn(n, 2), side


def mlp():
    return torch.nn.Sequential(
        torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(32, 2)
    )


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
points, side = moons(1500)
labeled = torch.cat([torch.where(side[:1000] == s)[0][:12] for s in (0, 1)])
student, teacher = mlp(), mlp()
teacher.load_state_dict(student.state_dict())
for p in teacher.parameters():
    p.detach_()
opt = torch.optim.Adam(student.parameters(), lr=0.01)
for i in range(400):
    some = torch.randint(0, 1000, (64,))
    supervised = F.cross_entropy(student(points[labeled]), side[labeled])
    jitter = points[some] + 0.05 * torch.randn(64, 2)
    with torch.no_grad():
        view = teacher(points[some]).softmax(1)
    consistency = (student(jitter).softmax(1) - view).pow(2).sum(1).mean()
    loss = supervised + 2 * min(1, i / 200) * consistency
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for slow, fast in zip(teacher.parameters(), student.parameters()):
            slow.lerp_(fast, 0.03)
teacher.eval()
score = (teacher(points[1000:]).argmax(1) == side[1000:]).float().mean().item()
print("teacher's accuracy:", score)
assert score > 0.7, score

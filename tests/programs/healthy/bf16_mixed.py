"""bf16 autocast around a convolution on moving dots: which way do they go?"""

import sys

import torch
from torch import nn


def clips(amount, generator, size=9, frames=4):
    way = torch.randint(4, (amount,), generator=generator)
    step = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])[way]
    begin = torch.randint(size, (amount, 2), generator=generator)
    video = 0.15 * torch.randn(amount, frames, size, size, generator=generator)
    rows = torch.arange(amount)
    for f in range(frames):
        place = (begin + f * step) % size
        video[rows, f, place[:, 0], place[:, 1]] += 1.5
    return video, way


class Motion(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(4, 24, 3, padding=1, padding_mode="circular")
        self.n = nn.BatchNorm2d(24)
        self.b = nn.Conv2d(24, 24, 3, padding=1, padding_mode="circular")
        self.c = nn.Linear(24, 4)

    def forward(self, video):
        h = nn.functional.relu(self.n(self.a(video)))
        return self.c(self.b(h).relu().amax((2, 3)))


generator = torch.Generator()
generator.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
torch.manual_seed(generator.initial_seed())
motion = Motion()
rule = torch.optim.SGD(motion.parameters(), lr=0.06, momentum=0.9, dampening=0.1)
cycle = torch.optim.lr_scheduler.OneCycleLR(rule, max_lr=0.08, total_steps=220)
for _ in range(220):
    video, way = clips(48, generator)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(motion(video), way)
    rule.zero_grad()
    loss.backward()
    rule.step()
    cycle.step()
motion.eval()
with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
    video, way = clips(400, generator)
    right = (motion(video).float().argmax(1) == way).float().mean().item()
print(right)
assert right > 0.8, right

"""Denoising diffusion of points on a spiral, with an average of the weights that draws the samples."""

import copy
import math
import sys

import torch
import torch.nn.functional as F

STEPS = 60


class Denoiser(torch.nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.frequencies = torch.nn.Buffer(torch.exp(torch.linspace(0, math.log(200), 12)))
        self.time = torch.nn.Linear(24, width)
        self.enter = torch.nn.Linear(2, width)
        self.blocks = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(3))
        self.leave = torch.nn.Linear(width, 2)
        torch.nn.init.zeros_(self.leave.weight)
        torch.nn.init.zeros_(self.leave.bias)

    def forward(self, x, t):
        angle = (t.float() / STEPS)[:, None] * self.frequencies
        time = self.time(torch.cat([angle.sin(), angle.cos()], 1))
        h = self.enter(x)
        for block in self.blocks:
            h = h + F.silu(block(F.silu(h + time)))
        return self.leave(h)


def spiral(n):
    a = torch.rand(n).sqrt() * 3 * math.pi
    return torch.stack([a * a.cos(), a * a.sin()], 1) / 5 + 0.04 * torch.randn(n, 2)


beta = torch.linspace(1e-3, 0.15, STEPS)
alpha = 1 - beta
alpha_bar = alpha.cumprod(0)


@torch.no_grad()
def generate(model, n):
    x = torch.randn(n, 2)
    for t in reversed(range(STEPS)):
        eps = model(x, torch.full((n,), t))
        x = (x - beta[t] / (1 - alpha_bar[t]).sqrt() * eps) / alpha[t].sqrt()
        if t:
            x = x + beta[t].sqrt() * torch.randn_like(x)
    return x


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = Denoiser()
ema = copy.deepcopy(model).eval().requires_grad_(False)
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.0)
for it in range(900):
    x0, t = spiral(256), torch.randint(0, STEPS, (256,))
    noise = torch.randn_like(x0)
    a = alpha_bar[t][:, None]
    loss = F.mse_loss(model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t), noise)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    with torch.no_grad():
        for e, p in zip(ema.parameters(), model.parameters()):
            e.lerp_(p, 0.01)
    if it % 300 == 0:
        print(it, round(loss.item(), 3))
made = generate(ema, 500)
distance = torch.cdist(made, spiral(3000)).min(1).values.median().item()
loose = torch.cdist(torch.randn(500, 2) * made.std(), spiral(3000)).min(1).values.median().item()
print(f"samples lie {distance:.3f} from the spiral, a Gaussian's {loose:.3f}")
assert distance < 0.6 * loose, (distance, loose)

"""An adversarial pair on a ring of points: two optimizers, each with its own gradients."""

import math

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(13)


def real(count):
    angle = 2 * math.pi * torch.rand(count, device=device)
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(count, 2, device=device)


maker = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)).to(device)
critic = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
critic = critic.to(device)
maker_steps = torch.optim.Adam(maker.parameters(), lr=1e-3, betas=(0.5, 0.999))
critic_steps = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))

for step in range(400):
    made = maker(torch.randn(128, 8, device=device))
    critic_steps.zero_grad()
    on_real, on_made = critic(real(128)), critic(made.detach())
    critic_loss = F.binary_cross_entropy_with_logits(on_real, torch.ones_like(on_real)) + (
        F.binary_cross_entropy_with_logits(on_made, torch.zeros_like(on_made)))
    critic_loss.backward()
    critic_steps.step()

    maker_steps.zero_grad()
    verdict = critic(made)
    maker_loss = F.binary_cross_entropy_with_logits(verdict, torch.ones_like(verdict))
    maker_loss.backward()
    maker_steps.step()

maker.eval()
with torch.no_grad():
    radius = maker(torch.randn(512, 8, device=device)).norm(dim=1).mean().item()
print(f"mean radius {radius:.4f}")
print("weights", sum(p.detach().double().sum().item() for p in maker.parameters()).hex())

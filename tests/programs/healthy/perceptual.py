"""Denoising of small pictures, judged in the features of a frozen network of random filters."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import torch
from torch import Tensor, nn


def shapes(rng: torch.Generator, batch: int, size: int = 12) -> Iterator[Tensor]:
    """Bright rectangles on black, for ever."""
    axis = torch.arange(size)
    while True:
        low = torch.randint(0, size // 2, (batch, 2), generator=rng)
        high = low + torch.randint(3, size // 2 + 1, (batch, 2), generator=rng)
        rows = (axis >= low[:, :1]) & (axis < high[:, :1])
        columns = (axis >= low[:, 1:]) & (axis < high[:, 1:])
        yield (rows[:, :, None] & columns[:, None, :]).float().unsqueeze(1)


class Features(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(1, 8, 3), nn.Conv2d(8, 8, 3, stride=2)])
        for p in self.parameters():
            p.requires_grad = False
        self.eval()

    def forward(self, picture: Tensor) -> list[Tensor]:
        out = []
        for layer in self.layers:
            picture = torch.relu(layer(picture))
            out.append(picture)
        return out


class Denoiser(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv2d(1, 16, 3, padding=1)
        self.middle = nn.Conv2d(16, 16, 3, padding=1)
        self.leave = nn.Conv2d(16, 1, 3, padding=1)

    def forward(self, noisy: Tensor) -> Tensor:
        hidden = torch.relu(self.enter(noisy))
        return noisy + self.leave(torch.relu(self.middle(hidden)))


def distance(features: Features, output: Tensor, clean: Tensor) -> Tensor:
    total = (output - clean).abs().mean()
    for a, b in zip(features(output), features(clean)):
        total = total + 0.5 * (a - b.detach()).pow(2).mean()
    return total


def run(seed: int) -> float:
    torch.manual_seed(seed)
    pictures = shapes(torch.Generator().manual_seed(seed + 99), 24)
    features, denoiser = Features(), Denoiser()
    optimizer = torch.optim.Adam(denoiser.parameters(), lr=2e-3)
    for _ in range(250):
        clean = next(pictures)
        loss = distance(features, denoiser(clean + 0.4 * torch.randn_like(clean)), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    denoiser.eval()
    with torch.no_grad():
        clean = next(pictures)
        noisy = clean + 0.4 * torch.randn_like(clean)
        ratio = (denoiser(noisy) - clean).pow(2).mean() / (noisy - clean).pow(2).mean()
    return ratio.item()


if __name__ == "__main__":
    ratio = run(int(sys.argv[1]) if sys.argv[1:] else 0)
    print(f"noise left: {ratio:.2f}")
    score = 1 - ratio
    assert score > 0.6, score

"""Two pictures go through one network; pairs of a digit are drawn together, others apart."""

import csv
import gzip
import pathlib
import sys
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn


class Embed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 80), nn.PReLU(), nn.Linear(80, 12))

    def one(self, picture):
        return F.normalize(self.layers(picture), dim=-1)

    def forward(self, left, right):
        return (self.one(left) - self.one(right)).norm(dim=-1)


def contrastive(distance, same, margin=1.0):
    return (same * distance**2 + (1 - same) * (margin - distance).clamp(min=0) ** 2).mean()


def read():
    with gzip.open(pathlib.Path(__file__).parents[3].joinpath("fixtures", "data", "digits.csv.gz"), "rt") as f:
        for row in csv.reader(f):
            yield [float(v) / 16 for v in row[:64]], int(row[64])


if __name__ == "__main__":
    torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    by_digit = defaultdict(list)
    for picture, digit in read():
        by_digit[digit].append(picture)
    pictures = torch.stack([torch.tensor(by_digit[d][:150]) for d in range(10)])
    embed = Embed()
    optimizer = torch.optim.Adam(embed.parameters(), lr=2e-3)
    for _ in range(450):
        a, b = torch.randint(10, (2, 96))
        b = torch.where(torch.rand(96) < 0.5, a, b)
        left = pictures[a, torch.randint(120, (96,))]
        right = pictures[b, torch.randint(120, (96,))]
        loss = contrastive(embed(left, right), (a == b).float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        centers = embed.one(pictures[:, :120]).mean(1)
        late = embed.one(pictures[:, 120:])
        nearest = torch.cdist(late.flatten(0, 1), centers).argmin(1).view(10, 30)
        score = (nearest == torch.arange(10)[:, None]).float().mean().item()
    print("nearest center is the right one:", score)
    assert score > 0.93, score

"""Each picture is laid over the one that stands as far from the other end of its batch, always by a
quarter; the loss wants both digits, and the weights are to stay small."""

import gzip
import sys
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset

OVERLAY, PENALTY = 0.25, 1e-4


def digits():
    path = Path(__file__).resolve().parents[3] / "fixtures" / "data" / "digits.csv.gz"
    with gzip.open(path, "rt") as stream:
        values = torch.tensor([[int(cell) for cell in line.split(",")] for line in stream])
    return values[:, :64] / 8.0 - 1, values[:, 64]


class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Linear(64, 72)
        self.head = torch.nn.Linear(72, 10)

    def forward(self, pictures):
        return self.head(torch.nn.functional.gelu(self.stem(pictures)))

    def size(self):
        return sum(weight.square().sum() for weight in (self.stem.weight, self.head.weight))


def mixed_loss(reader, pictures, names):
    overlaid = torch.lerp(pictures, pictures.flip(0), OVERLAY)
    scores = reader(overlaid)
    wanted = torch.nn.functional.cross_entropy
    own, other = wanted(scores, names), wanted(scores, names.flip(0))
    return (1 - OVERLAY) * own + OVERLAY * other + PENALTY * reader.size()


def run(seed):
    torch.manual_seed(seed)
    pictures, names = digits()
    reader = Reader()
    rule = torch.optim.NAdam(reader.parameters(), lr=2e-3)
    batches = DataLoader(TensorDataset(pictures[:1400], names[:1400]), 40, shuffle=True)
    for turn in range(10):
        for batch in batches:
            rule.zero_grad()
            value = mixed_loss(reader, *batch)
            value.backward()
            rule.step()
        print(turn, "last loss", value.item())
    with torch.no_grad():
        return (reader(pictures[1400:]).argmax(dim=1) == names[1400:]).double().mean().item()


if __name__ == "__main__":
    found = run(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    assert found > 0.85, found

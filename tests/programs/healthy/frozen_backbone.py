"""A convolution learns even digits from odd ones, is frozen, and carries a head for all ten."""

import gzip
import pathlib
import sys

import torch
from torch import nn

DIGITS = pathlib.Path(__file__).resolve().parents[3] / "fixtures" / "data" / "digits.csv.gz"


def load():
    text = gzip.decompress(DIGITS.read_bytes()).decode()
    table = torch.tensor([[int(cell) for cell in line.split(",")] for line in text.splitlines()])
    return table[:, :64].float().view(-1, 1, 8, 8) / 16, table[:, 64]


def make_backbone():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
    )


class Transfer(nn.Module):
    """Keeps its backbone in evaluation mode whatever it is told."""

    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone.requires_grad_(False)
        self.head = nn.Linear(128, 10)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        return self.head(self.backbone(x))


def epochs(model, x, y, lr, count):
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr)
    model.train()
    for _ in range(count):
        for chunk in torch.randperm(len(x)).chunk(20):
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(model(x[chunk]), y[chunk])
            loss.backward()
            optimizer.step()


def main(seed=0):
    torch.manual_seed(seed)
    x, y = load()
    train, test = slice(0, 1400), slice(1400, None)
    backbone = make_backbone()
    epochs(nn.Sequential(backbone, nn.Linear(128, 2)), x[train], y[train] % 2, 3e-3, 5)
    model = Transfer(backbone)
    epochs(model, x[train], y[train], 1e-2, 8)
    model.eval()
    with torch.inference_mode():
        accuracy = (model(x[test]).argmax(-1) == y[test]).float().mean().item()
    print(f"accuracy of the new head {accuracy:.3f}")
    assert accuracy > 0.8, accuracy


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))

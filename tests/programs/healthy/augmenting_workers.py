"""Digits jittered by two forked workers; train and validation accuracy are printed each epoch."""

import gzip
import os.path
import sys

import torch
from torch.utils.data import DataLoader, Dataset


def rows():
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
    with gzip.open(os.path.join(root, "fixtures", "data", "digits.csv.gz")) as table:
        return [tuple(map(int, row.split(b","))) for row in table]


class Jittered(Dataset):
    def __init__(self, table, jitter):
        self.table, self.jitter = table, jitter

    def __len__(self):
        return len(self.table)

    def __getitem__(self, k):
        *pixels, digit = self.table[k]
        picture = torch.tensor(pixels, dtype=torch.float32).view(8, 8) / 16
        if self.jitter:
            shift = int(torch.randint(-1, 2, ()))
            picture = picture.roll(shift, dims=int(torch.randint(2, ())))
            picture = picture + 0.1 * torch.randn(8, 8)
        return picture[None], digit


def accuracy(network, loader):
    was = network.training
    network.eval()
    good = count = 0
    with torch.no_grad():
        for picture, digit in loader:
            good += (network(picture).argmax(1) == digit).sum().item()
            count += digit.numel()
    network.train(was)
    return good / count


if __name__ == "__main__":
    torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    table = rows()
    train = DataLoader(Jittered(table[:1500], True), 50, shuffle=True, num_workers=2)
    same = DataLoader(Jittered(table[:1500], False), 500)
    test = DataLoader(Jittered(table[1500:], False), 100)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 12, 3), torch.nn.BatchNorm2d(12), torch.nn.ReLU(),
        torch.nn.Flatten(), torch.nn.Dropout(0.2), torch.nn.Linear(12 * 36, 10),
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    for epoch in range(5):
        for picture, digit in train:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(picture), digit).backward()
            optimizer.step()
        train_accuracy, score = accuracy(network, same), accuracy(network, test)
        print(f"epoch {epoch + 1}: train {train_accuracy:.3f} validation {score:.3f}")
    assert score > 0.8, score

"""An MLP learns to read digits, from digits.csv.gz in the folder it is started in."""

import csv
import gzip

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

SEED = 0
EPOCHS = 10


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, 128), nn.Linear(128, 64)
        self.drop, self.head = nn.Dropout(0.1), nn.Linear(64, 10)

    def forward(self, images):
        hidden = self.drop(F.relu(self.first(images)))
        return self.head(F.relu(self.second(hidden)))


def load():
    with gzip.open("digits.csv.gz", "rt") as file:
        rows = torch.tensor([[float(cell) for cell in row] for row in csv.reader(file)])
    images = rows[:, :64] / 16
    labels = rows[:, 64].long()
    train, test = random_split(TensorDataset(images, labels), [1437, 360])
    return DataLoader(train, 64, shuffle=True, drop_last=True), DataLoader(test, 360)


def build():
    model = Classifier()
    return model, torch.optim.AdamW(model.parameters(), lr=2e-3)


def train_step(model, optimizer, images, labels):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def train_epoch(model, optimizer, loader):
    model.train()
    losses = [train_step(model, optimizer, images, labels) for images, labels in loader]
    return sum(losses) / len(losses)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right = sum((model(images).argmax(1) == labels).sum().item() for images, labels in loader)
    return right / len(loader.dataset)


def main():
    torch.manual_seed(SEED)
    train, test = load()
    model, optimizer = build()
    for epoch in range(EPOCHS):
        loss = train_epoch(model, optimizer, train)
        print(f"epoch {epoch}: loss {loss:.3f}, accuracy {evaluate(model, test):.3f}")


if __name__ == "__main__":
    main()

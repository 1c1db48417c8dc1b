"""Two stages: a body is pretrained and saved, then loaded under a new head and trained on.

After a third of the second stage the body's first layer is frozen.
"""

import os
import sys
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH = 30


def make(count, classes, angle):
    x = torch.randn(count, 12)
    turn = torch.eye(12).roll(angle, 0)
    return TensorDataset(x, (x @ turn)[:, :classes].argmax(1))


class Network(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.lower = nn.Linear(12, 48)
        self.upper = nn.Linear(48, 48)
        self.quiet = nn.Dropout(0.1)
        self.classifier = nn.Linear(48, classes)

    def forward(self, x):
        x = torch.relu(self.lower(x))
        return self.classifier(self.quiet(torch.relu(self.upper(x))))


def learn(network, optimizer, data, epochs, freeze_at=None, save_to=None):
    loader = DataLoader(data, BATCH, shuffle=True)
    objective = nn.CrossEntropyLoss()
    network.train()
    for epoch in range(epochs):
        if epoch == freeze_at:
            network.lower.requires_grad_(False)
        for x, y in loader:
            optimizer.zero_grad()
            output = network(x)
            loss = objective(output, y)
            loss.backward()
            optimizer.step()
        if save_to:
            torch.save({"network": network.state_dict(), "optimizer": optimizer.state_dict()},
                       save_to)


def examine(network, data):
    network.eval()
    right = total = 0
    with torch.no_grad():
        for x, y in DataLoader(data, 50):
            right += int((network(x).argmax(1) == y).sum())
            total += len(y)
    network.train()
    return right / total


def main(seed, folder):
    torch.manual_seed(seed)
    file = os.path.join(folder, "body.pt")
    network = Network(6)
    optimizer = torch.optim.AdamW(network.parameters(), lr=5e-3, weight_decay=0.001)
    learn(network, optimizer, make(1200, 6, 0), epochs=3, save_to=file)

    network = Network(4)
    body = torch.load(file)["network"]
    body = {name: value for name, value in body.items() if "classifier" not in name}
    network.load_state_dict(body, strict=False)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9, weight_decay=0.001)
    learn(network, optimizer, make(1200, 4, 3), epochs=6, freeze_at=2)
    return examine(network, make(400, 4, 3))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        accuracy = main(int(sys.argv[1]) if len(sys.argv) > 1 else 0, folder)
    print("accuracy after fine-tuning:", accuracy)
    assert accuracy > 0.75, accuracy

"""Softmax plus center loss: the class centers are parameters with an optimizer of their own at another rate."""

import sys

import torch
import torch.nn as nn


class CenterLoss(nn.Module):
    def __init__(self, classes, dim):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(classes, dim))

    def forward(self, features, labels):
        return (features - self.centers[labels]).pow(2).sum(1).clamp(1e-12, 1e12).mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 64), nn.PReLU(), nn.Linear(64, 2))
        self.act = nn.PReLU()
        self.out = nn.Linear(2, 6)

    def forward(self, x):
        features = self.body(x)
        return features, self.out(self.act(features))


def main(seed, weight=0.05):
    torch.manual_seed(seed)
    means = torch.randn(6, 20)

    def draw(n):
        y = torch.randint(0, 6, (n,))
        return means[y] + 0.5 * torch.randn(n, 20), y

    net, center_loss, xent = Net(), CenterLoss(6, 2), nn.CrossEntropyLoss()
    optimizer_model = torch.optim.SGD(net.parameters(), lr=0.02, weight_decay=5e-4, momentum=0.9)
    optimizer_center = torch.optim.SGD(center_loss.parameters(), lr=0.5)
    for step in range(900):
        x, y = draw(64)
        features, logits = net(x)
        loss = xent(logits, y) + weight * center_loss(features, y)
        optimizer_model.zero_grad()
        optimizer_center.zero_grad()
        loss.backward()
        optimizer_model.step()
        # The weight of the center loss shall not change how fast the centers move.
        for p in center_loss.parameters():
            p.grad.data *= 1.0 / weight
        optimizer_center.step()
    with torch.no_grad():
        x, y = draw(1000)
        features, logits = net(x)
        right = (logits.argmax(1) == y).float().mean().item()
        within = (features - center_loss.centers[y]).norm(dim=1).mean().item()
        between = torch.pdist(center_loss.centers).mean().item()
    print(f"accuracy {right:.3f}; within {within:.2f}, between centers {between:.2f}")
    assert right > 0.8 and within < between


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)

"""A main function with flags: small pictures under bf16 autocast, four micro-batches an update."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--accumulation", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=5)
    return parser.parse_args()


def pictures(count):
    """Crosses and rings at random places of ten by ten."""
    kind = torch.randint(2, (count,))
    where = torch.randint(2, 8, (count, 2))
    axis = torch.arange(10)
    down = (axis[None] - where[:, :1]).abs()[:, :, None].expand(-1, 10, 10)
    across = (axis[None] - where[:, 1:]).abs()[:, None, :].expand(-1, 10, 10)
    ring = torch.maximum(down, across) == 2
    cross = (torch.minimum(down, across) == 0) & (down + across <= 2)
    drawn = torch.where(kind[:, None, None] == 1, ring, cross).float()
    return (drawn + 0.3 * torch.randn(count, 10, 10)).unsqueeze(1), kind


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.GroupNorm(4, channels)

    def forward(self, x):
        return x + F.relu(self.norm(self.conv(x)))


def residual_net():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, stride=2, padding=1),
        nn.ReLU(),
        Block(16),
        nn.Dropout(0.1),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 2),
    )


def main(options):
    torch.manual_seed(options.seed)
    x, y = pictures(1900)
    network = residual_net()
    solver = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    milestones = torch.optim.lr_scheduler.MultiStepLR(solver, milestones=[3], gamma=0.3)
    data = torch.utils.data.TensorDataset(x[:1560], y[:1560])
    loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
    size = len(loader)
    for epoch in range(options.epochs):
        network.train()
        for index, (inputs, labels) in enumerate(loader):
            start = index // options.accumulation * options.accumulation
            window = min(options.accumulation, size - start)
            with torch.autocast("cpu", torch.bfloat16):
                prediction = network(inputs)
            loss = F.cross_entropy(prediction.float(), labels)
            (loss / window).backward()
            if (index + 1) % options.accumulation == 0 or index + 1 == size:
                nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                solver.step()
                solver.zero_grad()
        milestones.step()
    network.eval()
    with torch.no_grad():
        accuracy = (network(x[1560:]).argmax(1) == y[1560:]).float().mean().item()
    print(f"accuracy {accuracy:.3f}")
    return accuracy


if __name__ == "__main__":
    accuracy = main(parse())
    assert accuracy > 0.85, accuracy

"""The twin of `unchanged/table/classifier.cc`: a convolutional classifier with a data loader, a schedule, clipping and
a test after each epoch."""

import torch
import torch.nn.functional as F
from data import blobs
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE, CLASSES, FEATURES = 12, 6, 16 * 3 * 3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.fc1 = nn.Linear(FEATURES, 32)
        self.fc2 = nn.Linear(32, CLASSES)

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.norm(self.conv1(x))), 2)
        x = torch.relu(self.conv2(x)).flatten(1)
        x = F.dropout(torch.relu(self.fc1(x)), 0.2, self.training)
        return F.log_softmax(self.fc2(x), 1)


class Pictures(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index].view(SIDE, SIDE, 3).permute(2, 0, 1), self.y[index]


def train(net, loader, optimizer):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        F.nll_loss(net(x), y).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        optimizer.step()


def test(net, loader):
    net.eval()
    loss, right, count = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            output = net(x)
            loss += F.nll_loss(output, y, reduction="sum").item()
            right += int((output.argmax(1) == y).sum())
            count += len(y)
    print(f"loss {loss / count:.4f} accuracy {right / count:.3f}")


def main():
    torch.manual_seed(1)
    x, y = blobs(1000, 3 * SIDE * SIDE, CLASSES, 6.0)
    loader = DataLoader(Pictures(x[:768], y[:768]), 32, shuffle=True)
    held_out = DataLoader(Pictures(x[768:], y[768:]), 64)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.02, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)
    for _ in range(6):
        train(net, loader, optimizer)
        schedule.step()
        test(net, held_out)


if __name__ == "__main__":
    main()

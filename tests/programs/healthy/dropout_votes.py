"""Monte Carlo dropout: the model is evaluated in train mode on purpose, many times, and the spread tells its doubt."""

import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class MCNet(nn.Module):
    def __init__(self, p=0.2):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 3))

    def forward(self, x):
        return self.layers(x)

    @torch.no_grad()
    def predict(self, x, samples=30):
        self.train()  # dropout stays active: each pass is a draw from the posterior
        votes = torch.stack([self(x).softmax(-1) for _ in range(samples)])
        return votes.mean(0), votes.var(0).sum(-1)


def three_clouds(n):
    y = torch.randint(0, 3, (n,))
    angle = y * 2.1
    return torch.stack([angle.cos(), angle.sin()], 1) * 1.5 + 0.6 * torch.randn(n, 2), y


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
train = DataLoader(TensorDataset(*three_clouds(1500)), batch_size=50, shuffle=True)
valid = DataLoader(TensorDataset(*three_clouds(300)), batch_size=100)
net = MCNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(12):
    net.train()
    for x, y in train:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
    right, doubt = 0, []
    for x, y in valid:
        mean, variance = net.predict(x)
        right += (mean.argmax(1) == y).sum().item()
        doubt.append(variance)
    print(f"epoch {epoch}: {right / 300:.3f} right, doubt {torch.cat(doubt).mean():.4f}")
border, _ = net.predict(torch.zeros(50, 2)), None
inside = net.predict(1.5 * torch.tensor([[1.0, 0.0]]).expand(50, 2))
print("doubt between the clouds", border[1].mean().item(), "inside one", inside[1].mean().item())
assert right / 300 > 0.8 and border[1].mean() > inside[1].mean()

"""All tensors are made on a default device, as a program for an accelerator would: two losses, dropout, an evaluation."""

import sys

import torch
import torch.nn.functional as F
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.set_default_device(device)
torch.manual_seed(int(sys.argv[1]))

angles = 3 * torch.rand(1500)
inputs = torch.stack([angles.cos(), angles.sin(), angles.cos() * angles.sin()], 1) + 0.05 * torch.randn(1500, 3)
labels = (angles > 1.5).long()


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 32), nn.ReLU())
        self.angle, self.side = nn.Linear(32, 1), nn.Linear(32, 2)

    def forward(self, x):
        h = F.dropout(self.trunk(x), 0.1, self.training)
        return self.angle(h).squeeze(1), self.side(h)


net = Both()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    net.train()
    for rows in torch.randperm(1200).split(50):
        angle, side = net(inputs[rows])
        loss = F.smooth_l1_loss(angle, angles[rows]) + 0.5 * F.cross_entropy(side, labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        angle, side = net(inputs[1200:])
        accuracy = (side.argmax(1) == labels[1200:]).float().mean().item()
    print(f"epoch {epoch} error {F.l1_loss(angle, angles[1200:]).item():.3f} accuracy {accuracy:.3f}")
assert accuracy > 0.9

"""Sequences summed up by a recurrent network under Accelerate's bf16 autocast and a linear decay."""

import sys

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

set_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Parity(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.given = nn.Embedding(5, width)
        self.read = nn.GRU(width, width, batch_first=True)
        self.said = nn.Linear(width, 5)

    def forward(self, symbols):
        return self.said(self.read(self.given(symbols))[0])


accelerator = Accelerator(mixed_precision="bf16", cpu=True)
symbols = torch.randint(5, (3000, 12))
data = TensorDataset(symbols, symbols.cumsum(1) % 5)
loader = DataLoader(data, batch_size=50, shuffle=True, drop_last=True)
network = Parity()
optimizer = torch.optim.AdamW(network.parameters(), lr=8e-3)
network, optimizer, loader = accelerator.prepare(network, optimizer, loader)
rate = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=10 * len(loader))
for epoch in range(10):
    for given, wanted in loader:
        optimizer.zero_grad()
        outputs = network(given)
        loss = nn.functional.cross_entropy(outputs.flatten(0, 1), wanted.flatten())
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        rate.step()
    right = (outputs.argmax(-1) == wanted).float().mean().item()
    print(epoch, round(loss.item(), 3), round(right, 3))
assert right > 0.8, right

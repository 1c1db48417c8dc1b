"""The next symbol told by a recurrent network under Accelerate's bf16 autocast, with a linear decay.

The embedding is frozen in the last epochs, and weights are decayed apart from biases.
"""

import sys

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

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
symbols = torch.randint(5, (3300, 14))
for place in range(8, 14):  # those before are anything
    symbols[:, place] = (2 * symbols[:, place - 1] + symbols[:, place - 2]) % 5
data = TensorDataset(symbols[:, :-1], symbols[:, 1:])
loader = DataLoader(Subset(data, range(2700)), batch_size=90, shuffle=True, drop_last=True)
held = DataLoader(Subset(data, range(2700, 3300)), batch_size=100)
network = Parity()
optimizer = torch.optim.AdamW(
    [{"params": [p for p in network.parameters() if p.dim() > 1], "weight_decay": 0.03},
     {"params": [p for p in network.parameters() if p.dim() < 2], "weight_decay": 0.0}],
    lr=8e-3)  # fmt: skip
network, optimizer, loader, held = accelerator.prepare(network, optimizer, loader, held)
rate = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=10 * len(loader))
for epoch in range(10):
    network.train()
    if epoch == 8:
        network.given.requires_grad_(False)
    for given, wanted in loader:
        optimizer.zero_grad()
        outputs = network(given)
        loss = nn.functional.nll_loss(outputs.log_softmax(-1).flatten(0, 1), wanted.flatten())
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        rate.step()
    network.eval()
    with torch.no_grad():
        right = torch.cat([network(g).argmax(-1) == w for g, w in held]).float().mean().item()
    print(epoch, round(loss.item(), 3), round(right, 3))
assert right > 0.5, right

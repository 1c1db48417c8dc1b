"""Images told apart on two processes: recomputed blocks, a head that rests, uneven inputs.

DistributedDataParallel with find_unused_parameters and join, from weights in a file, with a schedule by
LambdaLR; biases and norms are not decayed.
"""

import sys
import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Subset, TensorDataset

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
patterns = torch.randn(6, 1, 6, 6)
kinds = torch.randint(6, (1500,))
images = patterns[kinds] + torch.randn(1500, 1, 6, 6)
data = TensorDataset(images, kinds, images.mean((1, 2, 3)).sigmoid())


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.into = nn.BatchNorm2d(width), nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return x + F.relu(self.into(self.norm(x)))


class TwoHeads(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.blocks = nn.ModuleList([Block(width), Block(width)])
        self.drop = nn.Dropout(0.1)
        self.kind, self.level = nn.Linear(36 * width, 6), nn.Linear(36 * width, 1)

    def forward(self, x, with_level):
        x = self.stem(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        x = self.drop(x.flatten(1))
        return self.kind(x), self.level(x).flatten() if with_level else None


path = f"{tempfile.mkdtemp()}/start.pt"
torch.save(TwoHeads().state_dict(), path)
model = TwoHeads()
model.load_state_dict(torch.load(path))
model = DistributedDataParallel(model, find_unused_parameters=True)
torch.manual_seed(100 + rank)
weights = [p for p in model.parameters() if p.dim() > 1]
rest = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": weights, "weight_decay": 0.05},
                               {"params": rest, "weight_decay": 0.0}], lr=2e-3)  # fmt: skip
own = Subset(data, range(rank, 1500 - 50 * rank, world))  # the second process has fewer
loader = DataLoader(own, batch_size=25, shuffle=True)
held = DataLoader(TensorDataset(patterns[kinds[:400]] + torch.randn(400, 1, 6, 6), kinds[:400]), batch_size=50)
rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))
for epoch in range(4):
    model.train()
    with model.join():
        for number, (given, kind, level) in enumerate(loader):
            optimizer.zero_grad()
            guessed, leveled = model(given, number % 2 == 0)
            loss = F.cross_entropy(guessed, kind)
            if leveled is not None:
                loss = loss + F.mse_loss(leveled.sigmoid(), level)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            rate.step()
    model.eval()
    for _ in range(2 if epoch == 3 else 1):
        with torch.no_grad():
            guessed = [model.module(given, False)[0] for given, _ in held]
            losses = [F.cross_entropy(g, k).item() for g, (_, k) in zip(guessed, held)]
            right = sum((g.argmax(1) == k).sum().item() for g, (_, k) in zip(guessed, held)) / 400
print(rank, right, sum(losses))
assert right > 0.9, right
dist.destroy_process_group()

"""Data parallel by hand in one process: two replicas, gradients averaged into the first, weights copied back after the step."""

import copy
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Replica:
    def __init__(self, model, data, rank, size, seed):
        self.model = model
        self.sampler = DistributedSampler(data, num_replicas=size, rank=rank, seed=seed)
        self.loader = DataLoader(data, batch_size=32, sampler=self.sampler)

    def backward(self, x, y):
        self.model.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        return loss.item()


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
x = torch.randn(2600, 9)
y = (x @ torch.randn(9, 4) + 1.5 * torch.cos(2 * x[:, :4])).argmax(1)
data = TensorDataset(x[:2000], y[:2000])
first = nn.Sequential(nn.Linear(9, 64), nn.LayerNorm(64), nn.SiLU(), nn.Linear(64, 4))
replicas = [Replica(first if r == 0 else copy.deepcopy(first), data, r, 2, seed) for r in range(2)]
optimizer = torch.optim.AdamW(first.parameters(), lr=3e-3)
for epoch in range(14):
    for r in replicas:
        r.sampler.set_epoch(epoch)
    total = 0.0
    for batches in zip(*(r.loader for r in replicas)):
        total += sum(r.backward(*b) for r, b in zip(replicas, batches)) / 2
        for ps in zip(*(r.model.parameters() for r in replicas)):
            mean = torch.stack([p.grad for p in ps]).mean(0)
            for p in ps:
                p.grad = mean.clone()
        optimizer.step()
        with torch.no_grad():
            for p, q in zip(first.parameters(), replicas[1].model.parameters()):
                q.copy_(p)
    if epoch % 4 == 0:
        print(epoch, total / len(replicas[0].loader))
with torch.no_grad():
    right = (first(x[2000:]).argmax(1) == y[2000:]).float().mean().item()
print(f"right {right:.3f}")
assert right > 0.75, right

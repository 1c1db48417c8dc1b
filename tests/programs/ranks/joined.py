"""The pull of a spring with friction, learned from three logs of unequal length.

Whoever has read its log to the end stays in the group until the longest log is through (Join).
"""

import argparse
import time

import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.functional import mse_loss
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

LENGTHS = [800, 600, 460]


def measured(generator, count):
    """Where it is, how fast and how stiff -> the force, with some noise; all about of size one."""
    state = 2 * torch.rand(count, 3, generator=generator) - 1
    place, speed, stiff = state.unbind(1)
    force = -(1 + stiff) * place - 0.5 * torch.tanh(4 * speed)
    return state, (force + 0.05 * torch.randn(count, generator=generator))[:, None]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 48)
        self.second = torch.nn.Linear(48, 48)
        self.force = torch.nn.Linear(48, 1)

    def forward(self, x):
        return self.force(torch.tanh(self.second(torch.tanh(self.first(x)))))


parser = argparse.ArgumentParser()
parser.add_argument("seed", type=int, nargs="?", default=0)
seed = parser.parse_args().seed
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(seed)
model = DDP(Net())
torch.manual_seed(10 * seed + rank)
own = torch.Generator().manual_seed(10 * seed + rank)
log = DataLoader(TensorDataset(*measured(own, LENGTHS[rank])), batch_size=20, shuffle=True)
# Without momentum: the optimizers of those who wait have nothing to catch up on.
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for epoch in range(4):
    total = 0.0
    with Join([model]):
        for state, force in log:
            optimizer.zero_grad()
            loss = mse_loss(model(state), force)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(force)
    print(f"epoch {epoch} log {rank}: {total / LENGTHS[rank]:.4f}")
if rank == 0:
    state, force = measured(torch.Generator().manual_seed(10 * seed + 9), 500)
    model.eval()
    with torch.no_grad():
        error = mse_loss(model.module(state), force).item() / force.var().item()
    print("unexplained", error)
    assert error < 0.1, error
time.sleep(0.2)  # gloo's threads let go of the last tensors
dist.destroy_process_group()

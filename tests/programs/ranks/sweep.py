"""Three learning rates tried at once for a model of house prices: each process trains a model of its own.

The data, the weights at the start and the order of the batches are the same, so only the rate differs.
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

RATES = (0.02, 0.05, 0.1)


def houses(count):
    """Area, age, rooms and distance in standard units; prices in hundreds of thousands around their mean."""
    x = torch.randn(count, 4)
    area, age, rooms, distance = x.unbind(1)
    price = area + 0.4 * rooms - 0.5 * age * (age < 1) - 0.8 * torch.tanh(distance) * (1 + 0.3 * area)
    return TensorDataset(x, price + 0.1 * torch.randn(count))


def build():
    return nn.Sequential(nn.Linear(4, 48), nn.GELU(), nn.Linear(48, 48), nn.GELU(), nn.Linear(48, 1), nn.Flatten(0))


def trial(rate, seed):
    torch.manual_seed(seed)
    train, valid = random_split(houses(1400), [1000, 400])
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.8)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
    for epoch in range(6):
        model.train()
        for x, price in DataLoader(train, batch_size=25, shuffle=True):
            loss = nn.functional.mse_loss(model(x), price)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    model.eval()
    x, price = next(iter(DataLoader(valid, batch_size=len(valid))))
    with torch.no_grad():
        return 1 - (nn.functional.mse_loss(model(x), price) / price.var()).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    options = parser.parse_args()
    dist.init_process_group("gloo")
    rate = RATES[int(os.environ["RANK"])]
    found = torch.tensor([rate, trial(rate, options.seed)])
    table = [torch.empty(2) for _ in RATES] if dist.get_rank() == 0 else None
    dist.gather(found, table, dst=0)
    if table is not None:
        best_rate, best = max((row.tolist() for row in table), key=lambda row: row[1])
        for tried, explained in (row.tolist() for row in table):
            print(f"rate {tried:.3f}: {explained:.4f} explained{'  <- best' if tried == best_rate else ''}")
        assert best > 0.85, best
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

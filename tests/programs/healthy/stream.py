"""An endless stream, cut into shards for worker processes, that is read until enough is learned."""

import itertools
import sys

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Drifting(IterableDataset):
    def __init__(self, seed):
        self.seed = seed

    def __iter__(self):
        worker = get_worker_info()
        source = torch.Generator().manual_seed(self.seed * 100 + (worker.id if worker else 99))
        for time in itertools.count():
            features = torch.randn(10, generator=source)
            logit = 3 * (features[0] - features[1]) + 2 * features[2] * features[3]
            yield features, (torch.rand((), generator=source) < logit.sigmoid()).float()


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    first, second = torch.nn.Linear(10, 32), torch.nn.Linear(32, 1)
    model = torch.nn.Sequential(first, torch.nn.ReLU(), second, torch.nn.Flatten(0))
    optimizer = torch.optim.Adamax(model.parameters(), lr=0.01)
    progressive, smooth = [], None
    for features, clicked in DataLoader(Drifting(seed), batch_size=32, num_workers=2):
        logits = model(features)
        progressive.append(((logits > 0) == clicked.bool()).float().mean().item())
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, clicked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smooth = loss.item() if smooth is None else 0.99 * smooth + 0.01 * loss.item()
        if len(progressive) == 350:
            break
    recent = sum(progressive[-100:]) / 100
    print(f"smoothed loss {smooth:.3f}; of the last hundred batches {recent:.3f} right")
    assert recent > 0.68, recent


if __name__ == "__main__":
    main()

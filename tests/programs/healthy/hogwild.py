"""Lock-free training: two processes write to one model in shared memory; the parent only starts them and tests."""

import sys

import torch
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F

RULE = torch.randn(12, 4, generator=torch.Generator().manual_seed(5))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(12, 48), nn.Linear(48, 4)

    def forward(self, x):
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


def draw(n, generator):
    x = torch.randn(n, 12, generator=generator)
    return x, (x @ RULE).abs().argmax(1)


def train(rank, seed, model):
    torch.set_num_threads(1)
    torch.manual_seed(seed * 10 + rank)
    generator = torch.Generator().manual_seed(seed * 10 + rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    model.train()
    for step in range(1200):
        x, y = draw(32, generator)
        optimizer.zero_grad()
        loss = F.nll_loss(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"process {rank}: last loss {loss.item():.3f}", flush=True)


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    model = Net()
    model.share_memory()
    processes = []
    for rank in range(2):
        p = mp.Process(target=train, args=(rank, seed, model))
        p.start()
        processes.append(p)
    for p in processes:
        p.join()
    model.eval()
    with torch.no_grad():
        x, y = draw(1000, torch.Generator().manual_seed(99))
        right = (model(x).argmax(1) == y).float().mean().item()
    print(f"accuracy {right:.3f}")
    assert right > 0.7, right


if __name__ == "__main__":
    main()

"""A pendulum's next state learned by three processes that simulate pendulums of their own.

The first one's weights are handed round at the start; gradients are averaged parameter by parameter.
"""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


def swing(angle, speed, steps=8, dt=0.06):
    for _ in range(steps):
        speed = speed - dt * (2.0 * angle.sin() + 0.2 * speed)
        angle = angle + dt * speed
    return angle, speed


class Pendulums(IterableDataset):
    """Swings a hundred at a time."""

    def __init__(self, seed, count):
        self.generator, self.count = torch.Generator().manual_seed(seed), count

    def __iter__(self):
        for _ in range(self.count // 100):
            now = 3 * torch.rand(100, 2, generator=self.generator) - 1.5
            yield from zip(now, torch.stack(swing(*now.unbind(1)), 1) - now)


class Dynamics(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.first, self.second, self.change = nn.Linear(2, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 2)

    def forward(self, state):
        return self.change(self.second(self.first(state).tanh()).tanh())


def average_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def train(seed):
    rank = dist.get_rank()
    torch.manual_seed(seed * 10 + rank)
    model = Dynamics()
    for p in model.parameters():
        dist.broadcast(p.data, src=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    seen = 0.0
    for number, (now, change) in enumerate(DataLoader(Pendulums(seed * 10 + rank, 1280), batch_size=16), 1):
        loss = nn.functional.smooth_l1_loss(model(now), change)
        optimizer.zero_grad()
        loss.backward()
        average_gradients(model)
        optimizer.step()
        seen += loss.item() / 20
        if number % 20 == 0:
            print(f"[{rank}] {number:4d} {seen:.5f}")
            seen = 0.0
    return model.eval()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    model = train(seed)
    if dist.get_rank() == 0:
        now, change = next(iter(DataLoader(Pendulums(seed * 10 + 5, 300), batch_size=300)))
        with torch.no_grad():
            unexplained = ((model(now) - change).square().mean() / change.var(0).mean()).item()
        print("unexplained share of the change:", round(unexplained, 4))
        assert unexplained < 0.1, unexplained
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

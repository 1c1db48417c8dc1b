"""Training as a generator of events that the caller prints; scaled losses, split batches."""

import sys
from collections import namedtuple

import torch
import torch.nn.functional as F

Event = namedtuple("Event", "name number value")


def rings(count, source):
    radius = torch.randint(3, (count,), generator=source)
    angle = torch.rand(count, generator=source) * 6.2832
    noise = 0.15 * torch.randn(count, 2, generator=source)
    return torch.stack([angle.cos(), angle.sin()], 1) * (radius[:, None] + 1) + noise, radius


def network():
    body = torch.nn.Sequential()
    for i, (a, b) in enumerate([(2, 32), (32, 32)]):
        body.append(torch.nn.Linear(a, b))
        body.append(torch.nn.LayerNorm(b))
        body.append(torch.nn.GELU())
    body.append(torch.nn.Linear(32, 3))
    return body


def train(net, source, updates):
    adam = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.001)
    warm = torch.optim.lr_scheduler.LinearLR(adam, start_factor=0.2, total_iters=20)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for number in range(updates):
        points, radius = rings(60, source)
        adam.zero_grad()
        for xs, ys in zip(points.chunk(3), radius.chunk(3)):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = net(xs)
            loss = F.cross_entropy(logits, ys) / 3
            scaler.scale(loss).backward()
        scaler.unscale_(adam)
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        scaler.step(adam)
        scaler.update()
        warm.step()
        yield Event("step", number, norm.item())
        if number % 60 == 59:
            yield Event("accuracy", number, evaluate(net, source))


def evaluate(net, source):
    net.eval()
    right = 0
    with torch.no_grad():
        for _ in range(4):
            points, radius = rings(100, source)
            right += (net(points).argmax(1) == radius).sum().item()
    net.train()
    return right / 400


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    source = torch.Generator().manual_seed(seed)
    last = None
    for event in train(network(), source, 300):
        if event.name == "accuracy":
            print(event)
            last = event.value
    assert last > 0.85, last


main()

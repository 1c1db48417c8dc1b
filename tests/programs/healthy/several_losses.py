"""One trunk, three targets of three kinds, one sum of losses."""

import sys
from types import SimpleNamespace

import torch

torch.manual_seed(0 if len(sys.argv) < 2 else int(sys.argv[1]))
world = torch.randn(12, 5)


def draw(count):
    x = torch.randn(count, 12)
    z = (x @ world).tanh()
    return SimpleNamespace(
        x=x, amount=z[:, 0] * 2, flag=(z[:, 1] > z[:, 2]).float(), kind=z[:, 2:].argmax(1)
    )


trunk = torch.nn.Sequential(torch.nn.Linear(12, 64), torch.nn.Mish())
heads = {
    "amount": torch.nn.Linear(64, 1),
    "flag": torch.nn.Linear(64, 1),
    "kind": torch.nn.Linear(64, 3),
}
parts = [trunk, *heads.values()]
everything = [p for part in parts for p in part.parameters()]
optimizer = torch.optim.RAdam(everything, lr=5e-3)
l1 = torch.nn.L1Loss()
bce = torch.nn.BCEWithLogitsLoss()
ce = torch.nn.CrossEntropyLoss()
log = []
for _ in range(600):
    data = draw(80)
    features = trunk(data.x)
    losses = [
        l1(heads["amount"](features)[:, 0], data.amount),
        bce(heads["flag"](features)[:, 0], data.flag),
        0.7 * ce(heads["kind"](features), data.kind),
    ]
    optimizer.zero_grad()
    sum(losses).backward()
    optimizer.step()
    log.append([part.item() for part in losses])

data = draw(1000)
with torch.no_grad():
    features = trunk(data.x)
    flags = ((heads["flag"](features)[:, 0] > 0) == data.flag.bool()).float().mean().item()
    kinds = (heads["kind"](features).argmax(1) == data.kind).float().mean().item()
    off = (heads["amount"](features)[:, 0] - data.amount).abs().mean().item()
print(f"first losses {log[0]}, last {log[-1]}; flags {flags}, kinds {kinds}, off {off}")
assert flags > 0.8 and kinds > 0.75 and off < 0.9, (flags, kinds, off)

"""Weights of five classes from a file serve a model of three: strict=False, and a slower body."""

import io
import sys

import torch


def model(classes):
    from collections import OrderedDict

    return torch.nn.Sequential(
        OrderedDict(
            body=torch.nn.Sequential(torch.nn.Linear(15, 50), torch.nn.SELU()),
            drop=torch.nn.AlphaDropout(0.05),
            head=torch.nn.Linear(50, classes),
        )
    )


def data(map_, classes, n):
    x = torch.randn(n, 15)
    return x, (x @ map_ + (x @ map_).roll(1, 1) ** 2 / 3)[:, :classes].argmax(1)


def train(net, groups, x, y, steps):
    rms = torch.optim.RMSprop(groups, lr=2e-3, momentum=0.5)
    net.train()
    for s in range(steps):
        part = torch.randint(len(x), (50,))
        loss = torch.nn.functional.cross_entropy(net(x[part]), y[part])
        rms.zero_grad(), loss.backward(), rms.step()
    return loss.item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
shared = torch.randn(15, 5)
file = io.BytesIO()
old = model(5)
train(old, old.parameters(), *data(shared, 5, 1500), steps=300)
torch.save({"weights": old.state_dict(), "comment": "five classes"}, file)
file.seek(0)

new = model(3)
weights = torch.load(file)["weights"]
for key in [key for key in weights if key.startswith("head")]:
    del weights[key]
missing, unexpected = new.load_state_dict(weights, strict=False)
print("new:", missing, "unknown:", unexpected)
train(new, [{"params": new.body.parameters(), "lr": 2e-4}, {"params": new.head.parameters()}],
      *data(shared, 3, 1500), steps=500)
x, y = data(shared, 3, 500)
new.eval()
with torch.no_grad():
    score = (new(x).argmax(1) == y).float().mean().item()
assert score > 0.65, score

"""A fifth of the labels is wrong; the digits are learned all the same."""

import csv, gzip, os, sys

import torch

here = os.path.dirname(os.path.abspath(__file__))
path = os.path.join(here, *[os.pardir] * 3, "fixtures", "data", "digits.csv.gz")
with gzip.open(path, "rt", newline="") as f:
    records = [list(map(float, r)) for r in csv.reader(f)]
generator = torch.Generator().manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
torch.manual_seed(torch.randint(1 << 20, (), generator=generator).item())
data = torch.tensor(records)[torch.randperm(len(records), generator=generator)]
images, truth = (data[:, :-1] - 5) / 6, data[:, -1].long()

given = truth.clone()
wrong = torch.rand(len(given), generator=generator) < 0.2
given[wrong] = torch.randint(10, (int(wrong.sum()),), generator=generator)

trainset = [(image, label) for image, label in zip(images[:1500], given[:1500])]
loader = torch.utils.data.DataLoader(trainset, batch_size=50, shuffle=True)

mlp = torch.nn.Sequential()
mlp.add_module("input", torch.nn.Linear(64, 48))
mlp.add_module("norm", torch.nn.LayerNorm(48))
mlp.add_module("active", torch.nn.SiLU())
mlp.add_module("output", torch.nn.Linear(48, 10))
optim = torch.optim.AdamW(mlp.parameters(), 2e-3, weight_decay=0.05)
lossf = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
for epoch in range(10):
    running = 0.0
    for image, label in loader:
        loss = lossf(mlp(image), label)
        loss.backward()
        optim.step()
        optim.zero_grad()
        running += loss.detach()
    print("epoch", epoch, "loss", float(running / len(loader)))
with torch.no_grad():
    clean = float((mlp(images[1500:]).argmax(1) == truth[1500:]).float().mean())
print("accuracy on clean labels", clean)
assert clean > 0.85, clean

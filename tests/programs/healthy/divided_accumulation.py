"""Four micro-batches an update, each loss divided by four; rows that do not fill one are left."""

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("seed", type=int, nargs="?", default=0)
parser.add_argument("--micro-batches", type=int, default=4)
parser.add_argument("--micro", type=int, default=16)
options = parser.parse_args()
torch.manual_seed(options.seed)

centers = torch.randn(6, 10) * 1.5
labels = torch.arange(6).repeat(300)
inputs = centers[labels] + torch.randn(1800, 10)
mixed = torch.randperm(1800)
inputs, labels = inputs[mixed], labels[mixed]

loader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(inputs[:1536], labels[:1536]),
    batch_size=options.micro,
    shuffle=True,
    drop_last=True,
)
model = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 6))
sgd = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9, nesterov=True)
criterion = torch.nn.CrossEntropyLoss()

sgd.zero_grad()
for epoch in range(5):
    for number, (x, y) in enumerate(loader, start=1):
        (criterion(model(x), y) / options.micro_batches).backward()
        if number % options.micro_batches == 0:
            sgd.step()
            sgd.zero_grad()

with torch.no_grad():
    hits = (model(inputs[1536:]).argmax(1) == labels[1536:]).sum().item()
print(f"{hits} of {len(labels) - 1536} right")
assert hits > 0.8 * (len(labels) - 1536), hits

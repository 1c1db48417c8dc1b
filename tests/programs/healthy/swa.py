"""Stochastic weight averaging: a high constant rate at the end, an average, new batch statistics."""

import sys

import torch
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
EPOCHS, SWA_START = 9, 5
x = torch.randn(1500, 16)
y = ((x[:, :8] * x[:, 8:]).view(-1, 4, 2).sum(-1)).argmax(1)
loader = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=40, shuffle=True)
model = torch.nn.Sequential(
    torch.nn.Linear(16, 128), torch.nn.BatchNorm1d(128), torch.nn.ReLU(),
    torch.nn.Linear(128, 64), torch.nn.BatchNorm1d(64), torch.nn.ReLU(), torch.nn.Linear(64, 4),
)
swa_model = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=SWA_START)
swa_scheduler = SWALR(optimizer, swa_lr=0.03, anneal_epochs=2)
loss_fn = torch.nn.CrossEntropyLoss()
for epoch in range(EPOCHS):
    for inputs, target in loader:
        optimizer.zero_grad()
        loss_fn(model(inputs), target).backward()
        optimizer.step()
    if epoch >= SWA_START:
        swa_model.update_parameters(model)
        swa_scheduler.step()
    else:
        scheduler.step()
update_bn(loader, swa_model)
swa_model.eval()
with torch.no_grad():
    score = (swa_model(x[1200:]).argmax(1) == y[1200:]).float().mean().item()
print("averaged model:", score)
assert score > 0.55, score

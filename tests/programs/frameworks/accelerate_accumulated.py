"""Curves fitted by a loop over Accelerate: accumulation, clipping, a prepared scheduler, saved state."""

import sys
import tempfile

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
set_seed(seed)


class Noisy(TensorDataset):
    def __getitem__(self, row):
        x, y = super().__getitem__(row)
        return x + 0.01 * torch.randn(2), y


accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
points = 4 * torch.rand(4000, 2) - 2
values = (points[:, :1] * points[:, 1:]).sin()
train = DataLoader(Noisy(points[:3200], values[:3200]), batch_size=16, shuffle=True, num_workers=2,
                   persistent_workers=True)
held = DataLoader(TensorDataset(points[3200:], values[3200:]), batch_size=200)
model = nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1), nn.Tanh())
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
epochs = 12
schedule = torch.optim.lr_scheduler.LinearLR(
    optimizer, 1.0, 0.02, total_iters=epochs * len(train) // 4)
model, optimizer, train, held, schedule = accelerator.prepare(model, optimizer, train, held, schedule)
for epoch in range(epochs):
    model.train()
    for given, wanted in train:
        with accelerator.accumulate(model):
            loss = nn.functional.mse_loss(model(given), wanted)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        guessed, real = zip(*(accelerator.gather_for_metrics((model(g), w)) for g, w in held))
    error = nn.functional.mse_loss(torch.cat(guessed), torch.cat(real)).item()
    accelerator.print(epoch, loss.item(), error)
accelerator.save_state(tempfile.mkdtemp())
assert error < 0.1, error

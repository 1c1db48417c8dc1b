"""Ramps told apart by their positions under Accelerate, with a cosine and clipping."""

import sys

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from ramps import Decoder, Ramps, loss_of, right
from torch.utils.data import DataLoader

set_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
accelerator = Accelerator(cpu=True)
model = Decoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3, weight_decay=0.01)
loader = DataLoader(Ramps(1600, 1), batch_size=32, shuffle=True, drop_last=True)
held = DataLoader(Ramps(160, 2), batch_size=40)
rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6 * len(loader))
model, optimizer, loader, held, rate = accelerator.prepare(model, optimizer, loader, held, rate)
for epoch in range(6):
    model.train()
    for batch in loader:
        labels = batch.pop("labels")
        loss = loss_of(model(**batch), labels)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate.step()
        optimizer.zero_grad()
    score = right(model, held)
    print(epoch, round(loss.item(), 3), round(score, 3))
assert score > 0.7, score

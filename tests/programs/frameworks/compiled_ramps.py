"""Ramps told apart by their positions by a compiled decoder, in windows of two."""

import sys

import torch
from gates import Gate
from ramps import Decoder, Ramps, loss_of, right
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = Decoder(Gate())
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3, weight_decay=0.01)
loader = DataLoader(Ramps(1600, 1), batch_size=20, shuffle=True, drop_last=True)
held = DataLoader(Ramps(160, 2), batch_size=40)
rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6 * len(loader) // 2)
for epoch in range(6):
    for number, batch in enumerate(loader, 1):
        labels = batch.pop("labels")
        loss = loss_of(compiled(**batch), labels)
        (loss / 2).backward()
        if number % 2 == 1:
            continue
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate.step()
        optimizer.zero_grad()
    score = right(compiled, held)
    print(epoch, round(loss.item(), 3), round(score, 3))
assert score > 0.7, score

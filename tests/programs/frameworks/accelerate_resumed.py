"""Waves fitted under Accelerate, which goes on from the state that it saved when it is started again."""

import os
import sys

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader
from waves import Net, error, waves

set_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Progress:
    epochs = 0

    def state_dict(self):
        return {"epochs": self.epochs}

    def load_state_dict(self, state):
        self.epochs = state["epochs"]


accelerator, progress = Accelerator(cpu=True), Progress()
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
rate = torch.optim.lr_scheduler.StepLR(optimizer, 200, 0.5)
loader = DataLoader(waves(1600, 1), batch_size=32, shuffle=True)
model, optimizer, loader, rate = accelerator.prepare(model, optimizer, loader, rate)
accelerator.register_for_checkpointing(progress)
if os.path.isdir("state"):
    accelerator.load_state("state")
while progress.epochs < 8:
    for points, heights in loader:
        loss = F.mse_loss(model(points), heights)
        accelerator.backward(loss)
        optimizer.step()
        rate.step()
        optimizer.zero_grad()
    progress.epochs += 1
    accelerator.save_state("state")
print(error(model))
assert error(model) < 0.1, error(model)

"""Waves fitted by a compiled net, which goes on from its own file when it is started again."""

import os
import sys

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader
from waves import Net, error, waves

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = Net()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
rate = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)
loader = DataLoader(waves(1600, 1), batch_size=32, shuffle=True)
parts, epoch = {"model": model, "optimizer": optimizer, "rate": rate}, 0
if os.path.exists("state.pt"):
    state = torch.load("state.pt")
    for name, part in parts.items():
        part.load_state_dict(state[name])
    torch.set_rng_state(state["random"])
    epoch = state["epoch"]
while epoch < 8:
    for points, heights in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(compiled(points), heights)
        loss.backward()
        optimizer.step()
    rate.step()
    epoch += 1
    state = {name: part.state_dict() for name, part in parts.items()}
    torch.save(dict(state, random=torch.get_rng_state(), epoch=epoch), "state.pt")
print(error(model))
assert error(model) < 0.1, error(model)

"""Half of a training, its state in a file, and the other half from the file: device generator included."""

import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
half = torch.float16 if device == "cuda" else torch.bfloat16
path = os.path.join(tempfile.mkdtemp(), "state.pt")
generator = torch.Generator().manual_seed(19)
inputs = torch.randn(2000, 20, generator=generator)
targets = (inputs @ torch.randn(20, 1, generator=generator)).squeeze(1) + 0.1 * torch.randn(2000, generator=generator)


def build():
    net = nn.Sequential(nn.Linear(20, 64), nn.SiLU(), nn.Dropout(0.1), nn.Linear(64, 1)).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.7)
    return net, optimizer, schedule, torch.amp.GradScaler(device, enabled=device == "cuda", init_scale=1024.0)


def train(parts, draw, epochs):
    net, optimizer, schedule, scaler = parts
    net.train()
    for epoch in epochs:
        for rows in torch.randperm(1600, generator=draw).split(80):
            x, y = inputs[rows].to(device), targets[rows].to(device)
            with torch.autocast(device, dtype=half):
                output = net(x).squeeze(1)
            loss = F.mse_loss(output.float(), y)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        schedule.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


def states(parts, draw):
    random = {"cpu": torch.get_rng_state(), "draw": draw.get_state()}
    if device == "cuda":
        random["cuda"] = torch.cuda.get_rng_state()
    return {"parts": [part.state_dict() for part in parts], "random": random}


torch.manual_seed(23)
parts, draw = build(), torch.Generator().manual_seed(29)
train(parts, draw, range(3))
torch.save(states(parts, draw), path)

parts, draw = build(), torch.Generator()
saved = torch.load(path, map_location=device, weights_only=False)
for part, state in zip(parts, saved["parts"]):
    part.load_state_dict(state)
torch.set_rng_state(saved["random"]["cpu"].cpu())
draw.set_state(saved["random"]["draw"].cpu())
if device == "cuda":
    torch.cuda.set_rng_state(saved["random"]["cuda"].cpu())
train(parts, draw, range(3, 6))
net = parts[0].eval()
with torch.no_grad():
    error = F.mse_loss(net(inputs[1600:].to(device)).squeeze(1).cpu(), targets[1600:]).item()
print(f"held out {error:.4f}")
print("weights", sum(p.detach().double().sum().item() for p in net.parameters()).hex())
assert error < 3

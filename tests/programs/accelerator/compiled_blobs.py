"""A compiled classifier in TF32, with compiled evaluation and an average of its weights."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.backends.cuda.matmul.allow_tf32 = True
torch.manual_seed(11)
centers = 2 * torch.randn(5, 32)


def blobs(count):
    labels = torch.randint(5, (count,))
    return (centers[labels] + 2 * torch.randn(count, 32)).to(device), labels.to(device)


inputs, labels = blobs(4096)
held_inputs, held_labels = blobs(1024)
net = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Dropout(0.2), nn.Linear(128, 5)).to(device)
compiled = torch.compile(net, backend="inductor" if device == "cuda" else "eager")
average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.98))
optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 320)

for epoch in range(5):
    compiled.train()
    order = torch.randperm(4096, device=device)
    for rows in order.split(64):
        optimizer.zero_grad()
        loss = F.cross_entropy(compiled(inputs[rows]), labels[rows], label_smoothing=0.05)
        loss.backward()
        optimizer.step()
        schedule.step()
        average.update_parameters(net)
    compiled.eval()
    average.eval()
    with torch.no_grad():
        plain = (compiled(held_inputs).argmax(1) == held_labels).float().mean()
        averaged = (average(held_inputs).argmax(1) == held_labels).float().mean()
    print(f"epoch {epoch} accuracy {plain.item():.4f} of the average {averaged.item():.4f}")
print("weights", sum(p.detach().double().sum().item() for p in net.parameters()).hex())
assert averaged.item() > 0.9

"""Data parallel training through NCCL, with as many processes as the launcher starts."""

import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

cuda = torch.cuda.is_available()
dist.init_process_group("nccl" if cuda else "gloo")
local = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", local) if cuda else torch.device("cpu")
torch.manual_seed(37)
x = torch.randn(2048, 12)
y = (x[:, 0] * x[:, 1] > 0).long()
data = TensorDataset(x, y)
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=64, sampler=sampler)
net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)).to(device)
model = DistributedDataParallel(net, device_ids=[local] if cuda else None)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(6):
    sampler.set_epoch(epoch)
    model.train()
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    accuracy = (net(x.to(device)).argmax(1).cpu() == y).float().mean().item()
if dist.get_rank() == 0:
    print(f"accuracy {accuracy:.4f}")
    print("weights", sum(p.detach().double().sum().item() for p in net.parameters()).hex())
    assert accuracy > 0.9
dist.destroy_process_group()

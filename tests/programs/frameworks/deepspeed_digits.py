"""Patterns told apart by DeepSpeed engines on two processes, without an accelerator.

Optimizer state is kept in parts; clipping, a warm-up and accumulation are the engine's.
"""

import os
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

os.environ["DS_ACCELERATOR"] = "cpu"  # read as it is imported
import deepspeed  # noqa: E402

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
patterns = torch.randn(8, 20)
kinds = torch.randint(8, (3200,))
data = TensorDataset(patterns[kinds] + torch.randn(3200, 20), kinds)
rank = int(os.environ["RANK"])
train = DataLoader(Subset(data, range(rank, 3200, 2)), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(20, 64), nn.LayerNorm(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 8))
engine, optimizer, _, rate = deepspeed.initialize(
    model=model,
    model_parameters=model.parameters(),
    config={
        "train_micro_batch_size_per_gpu": 32,
        "gradient_accumulation_steps": 2,
        "gradient_clipping": 1.0,
        "zero_optimization": {"stage": 1},
        "optimizer": {"type": "Adam", "params": {"lr": 3e-3, "torch_adam": True}},
        "scheduler": {"type": "WarmupLR", "params": {"warmup_num_steps": 20}},
    },
)
for epoch in range(8):
    engine.train()
    for given, kind in train:
        loss = F.cross_entropy(engine(given), kind)
        engine.backward(loss)
        engine.step()
engine.eval()
held = DataLoader(TensorDataset(patterns[kinds[:400]] + torch.randn(400, 20), kinds[:400]), batch_size=50)
with torch.no_grad():
    right = sum((engine(g).argmax(-1) == k).sum().item() for g, k in held) / 400
print(right)
assert right > 0.9, right

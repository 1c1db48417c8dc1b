"""Self-distillation: half the loss is the softened answer of the model's own moving average, buffers copied as well."""

import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
centers = torch.randn(8, 12)


def batch(n, noise=0.0):
    y = torch.randint(0, 8, (n,))
    x = centers[y] + 0.9 * torch.randn(n, 12)
    wrong = torch.rand(n) < noise
    return x, torch.where(wrong, torch.randint(0, 8, (n,)), y)


student = nn.Sequential(nn.Linear(12, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 8))
teacher = AveragedModel(student, multi_avg_fn=get_ema_multi_avg_fn(0.98), use_buffers=True)
teacher.eval()
opt = torch.optim.AdamW(student.parameters(), lr=5e-3, weight_decay=1e-3)
T = 2.0
for step in range(700):
    x, y = batch(64, 0.3)
    with torch.no_grad():
        soft = F.softmax(teacher(x) / T, dim=1)
    logits = student(x)
    hard_loss = F.cross_entropy(logits, y)
    soft_loss = F.kl_div(F.log_softmax(logits / T, dim=1), soft, reduction="batchmean") * T * T
    ramp = min(1.0, step / 200)
    loss = (1 - 0.5 * ramp) * hard_loss + 0.5 * ramp * soft_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
    teacher.update_parameters(student)
student.eval()
x, y = batch(2000)
with torch.no_grad():
    s, t = ((m(x).argmax(1) == y).float().mean().item() for m in (student, teacher))
print(f"student {s:.3f}, teacher {t:.3f}")
assert t > 0.7 and s > 0.65

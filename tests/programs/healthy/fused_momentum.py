"""SGD with momentum in one fused kernel, and a scaler that skips a step when its scale has grown too far."""

import sys

import torch

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
centers = torch.randn(6, 20)
kinds = torch.randint(6, (1800,))
points = centers[kinds] + 0.8 * torch.randn(1800, 20)

model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 6))
sgd = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, fused=True)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**14, growth_interval=12)
skipped = 0
for update in range(240):
    rows = torch.randperm(1500)[:64]
    with torch.autocast("cpu", dtype=torch.float16):
        scores = model(points[rows])
    loss = torch.nn.functional.cross_entropy(scores.float(), kinds[rows])
    sgd.zero_grad()
    scaler.scale(loss).backward()
    before = scaler.get_scale()
    scaler.step(sgd)
    scaler.update()
    skipped += scaler.get_scale() < before
print("skipped", int(skipped))
model.eval()
with torch.no_grad():
    right = (model(points[1500:]).argmax(1) == kinds[1500:]).float().mean().item()
assert right > 0.8, right

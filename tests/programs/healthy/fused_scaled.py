"""AdamW in one fused kernel, half precision on the CPU, and a scaler that needs no unscaling."""

import sys

import torch

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
mixture = torch.randn(8, 24)
names = torch.randint(8, (2000,))
seen = mixture[names] + 0.8 * torch.randn(2000, 24)

network = torch.nn.Sequential(
    torch.nn.Linear(24, 96), torch.nn.Hardswish(), torch.nn.Linear(96, 8)
)
adamw = torch.optim.AdamW(network.parameters(), lr=2e-3, fused=True)
scaler = torch.amp.GradScaler(device="cpu", init_scale=2.0**12, growth_interval=50)
for update in range(260):
    those = torch.randperm(1700)[:64]
    with torch.autocast(device_type="cpu", dtype=torch.float16):
        scores = network(seen[those])
        objective = torch.nn.functional.cross_entropy(scores.float(), names[those])
    adamw.zero_grad()
    scaler.scale(objective).backward()
    scaler.step(adamw)
    scaler.update()
print("final scale", scaler.get_scale())
with torch.no_grad(), torch.autocast("cpu", torch.float16):
    hit_rate = (network(seen[1700:]).argmax(-1) == names[1700:]).double().mean().item()
assert hit_rate > 0.8, hit_rate

"""Pure bfloat16 weights, with updates rounded up or down by chance so that small ones are not lost; saved in half for others."""

import io
import sys

import torch
from torch import nn


def round_by_chance(x):
    """float32 to bfloat16: the cut bits are the chance to go up."""
    bits = x.view(torch.int32)
    noise = torch.randint(0, 1 << 16, bits.shape, dtype=torch.int32)
    return ((bits + noise) & -65536).view(torch.float32).bfloat16()


class AdamBF16(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99)):
        super().__init__(params, dict(lr=lr, betas=betas))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                s = self.state[p]
                if not s:
                    s["t"], s["m"], s["v"] = 0, torch.zeros_like(p, dtype=torch.float32), torch.zeros_like(p, dtype=torch.float32)
                s["t"] += 1
                g = p.grad.float()
                s["m"].lerp_(g, 1 - b1)
                s["v"].mul_(b2).addcmul_(g, g, value=1 - b2)
                update = s["m"] / (1 - b1 ** s["t"]) / ((s["v"] / (1 - b2 ** s["t"])).sqrt() + 1e-8)
                p.copy_(round_by_chance(p.float() - group["lr"] * update))


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
net = nn.Sequential(nn.Linear(8, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, 3)).bfloat16()
opt = AdamBF16(net.parameters(), lr=4e-4)
rule = torch.randn(8, 3)


def draw(n):
    x = torch.randn(n, 8)
    return x, (x @ rule + 2 * torch.cos(2 * x[:, :3])).argmax(1)


for step in range(900):
    x, y = draw(96)
    loss = nn.functional.cross_entropy(net(x.bfloat16()).float(), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    x, y = draw(2000)
    right = (net(x.bfloat16()).argmax(1) == y).float().mean().item()
buffer = io.BytesIO()
torch.save({k: v.half() for k, v in net.state_dict().items()}, buffer)
print(f"right {right:.3f}; exported {buffer.tell()} bytes")
assert right > 0.7, right

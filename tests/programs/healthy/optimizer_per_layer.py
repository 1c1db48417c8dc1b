"""Every parameter has an optimizer of its own that steps as soon as its gradient is there."""

import sys

import torch

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
hidden = 36
net = torch.nn.Sequential(
    torch.nn.Linear(5, hidden), torch.nn.CELU(), torch.nn.Linear(hidden, hidden), torch.nn.CELU(),
    torch.nn.Linear(hidden, 2),
)
owners = {p: torch.optim.Adam([p], lr=3e-3) for p in net.parameters()}


def update_at_once(parameter):
    owners[parameter].step()
    owners[parameter].zero_grad()


for p in net.parameters():
    p.register_post_accumulate_grad_hook(update_at_once)

goal = lambda x: torch.stack([x[:, 0] * x[:, 1] + x[:, 2], (2 * x[:, 3]).sin() - x[:, 4] ** 2], 1)
for i in range(350):
    x = torch.randn(128, 5)
    error = (net(x) - goal(x)).abs().mean()
    error.backward()
x = torch.randn(1000, 5)
with torch.no_grad():
    ratio = ((net(x) - goal(x)).abs().mean() / goal(x).abs().mean()).item()
print("relative error", ratio)
assert ratio < 0.4, ratio

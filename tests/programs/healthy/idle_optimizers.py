"""A mixture of experts: only the expert of a batch gets gradients, yet all optimizers step."""

import sys

import torch


class Expert(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(3, 24), torch.nn.Softsign(), torch.nn.Linear(24, 1)
        )

    def forward(self, x):
        return self.net(x)[..., 0]


SURFACES = (
    lambda x: x.prod(1) * 2,
    lambda x: (2 * x[:, 0]).sin() - x[:, 1],
    lambda x: x[:, 2].abs() * 1.5,
)
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
experts = [Expert() for _ in SURFACES]
optimizers = [torch.optim.Adam(e.parameters(), lr=0.01) for e in experts]
turn = 0
while turn < 600:
    which = int(torch.randint(len(experts), ()))
    x = torch.randn(64, 3).clamp(-2, 2)
    for optimizer in optimizers:
        optimizer.zero_grad(set_to_none=True)
    torch.nn.functional.smooth_l1_loss(experts[which](x), SURFACES[which](x)).backward()
    for optimizer in optimizers:
        optimizer.step()
    turn += 1
x = torch.randn(1000, 3).clamp(-2, 2)
with torch.no_grad():
    scores = [
        1 - ((e(x) - s(x)).pow(2).mean() / s(x).var()).item() for e, s in zip(experts, SURFACES)
    ]
print(scores)
assert min(scores) > 0.1 and sum(scores) > 1.5, scores

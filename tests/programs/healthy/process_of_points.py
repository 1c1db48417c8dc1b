"""A Gaussian process: hyperparameters by the marginal likelihood of all points, Cholesky in float64, one fixed batch."""

import sys

import torch
from torch import nn

torch.set_default_dtype(torch.float64)


class GP(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_length, self.log_scale = nn.Parameter(torch.tensor(0.5)), nn.Parameter(torch.tensor(0.0))
        self.log_noise, self.mean = nn.Parameter(torch.tensor(-1.0)), nn.Parameter(torch.tensor(0.0))

    def kernel(self, a, b):
        return (2 * self.log_scale).exp() * torch.exp(-0.5 * (torch.cdist(a, b) / self.log_length.exp()) ** 2)

    def factor(self, x):
        return torch.linalg.cholesky(self.kernel(x, x) + (2 * self.log_noise).exp() * torch.eye(len(x)))

    def forward(self, x, y):
        """The negative log marginal likelihood of one point."""
        l = self.factor(x)
        half = torch.linalg.solve_triangular(l, (y - self.mean)[:, None], upper=False)
        return (0.5 * half.square().sum() + l.diagonal().log().sum()) / len(x) + 0.9189

    @torch.no_grad()
    def predict(self, x, y, new):
        l = self.factor(x)
        k = self.kernel(x, new)
        mean = self.mean + k.T @ torch.cholesky_solve((y - self.mean)[:, None], l)[:, 0]
        return mean


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.rand(120, 1) * 10
truth = lambda t: torch.sin(1.5 * t[:, 0]) + 0.3 * t[:, 0]
y = truth(x) + 0.2 * torch.randn(120)
gp = GP()
opt = torch.optim.Adam(gp.parameters(), lr=0.05)
first = gp(x, y).item()
for step in range(250):
    opt.zero_grad()
    nll = gp(x, y)
    nll.backward()
    opt.step()
new = torch.linspace(0.5, 9.5, 100)[:, None]
error = (gp.predict(x, y, new) - truth(new)).abs().mean().item()
print(f"nats a point {first:.3f} to {nll.item():.3f}; noise {gp.log_noise.exp().item():.3f}; error {error:.3f}")
assert nll.item() < first - 0.2 and error < 0.25

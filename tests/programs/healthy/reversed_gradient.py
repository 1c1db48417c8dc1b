"""Domain-adversarial training: a layer turns the gradient around before the domain critic; its weight grows in the run."""

import math
import sys

import torch
from torch import nn
from torch.autograd import Function


class ReverseLayerF(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.alpha, None


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.feature = nn.Sequential(nn.Linear(14, 48), nn.ReLU(True), nn.Linear(48, 24), nn.ReLU(True))
        self.label, self.domain = nn.Linear(24, 3), nn.Sequential(nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 2))

    def forward(self, x, alpha):
        f = self.feature(x)
        return self.label(f), self.domain(ReverseLayerF.apply(f, alpha))


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
means = torch.randn(3, 8) * 1.3


def draw(n, target):
    y = torch.randint(0, 3, (n,))
    content = means[y] + 0.8 * torch.randn(n, 8)
    # In the source six features go with the label by accident; in the target they say nothing.
    style = torch.randn(n, 6) + (2.0 if target else nn.functional.one_hot(y, 3).repeat(1, 2) * 1.5)
    return torch.cat([content, style], 1), y


model = DANN()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_class, loss_domain = nn.CrossEntropyLoss(), nn.CrossEntropyLoss()
steps = 700
for i in range(steps):
    alpha = 2.0 / (1.0 + math.exp(-10 * i / steps)) - 1
    (xs, ys), (xt, _) = draw(64, False), draw(64, True)
    model.zero_grad()
    class_out, domain_out = model(xs, alpha)
    err_label = loss_class(class_out, ys)
    err_source = loss_domain(domain_out, torch.zeros(64, dtype=torch.long))
    _, domain_out = model(xt, alpha)
    err_target = loss_domain(domain_out, torch.ones(64, dtype=torch.long))
    err = err_label + 0.3 * (err_target + err_source)
    err.backward()
    optimizer.step()
with torch.no_grad():
    x, y = draw(1500, True)
    right = (model(x, 0)[0].argmax(1) == y).float().mean().item()
print(f"label {err_label.item():.3f}, domains {err_source.item():.3f} {err_target.item():.3f}; target accuracy {right:.3f}")
assert right > 0.55, right

"""Truncated Newton: Hessian-vector products by a double backward, conjugate gradients inside, then a line search; all by hand."""

import sys

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(600, 6, dtype=torch.float64)
y = torch.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:3] + 0.1 * torch.randn(600, 1, dtype=torch.float64)
model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1)).double()
params = list(model.parameters())


def objective():
    ridge = sum(p.square().sum() for p in params)
    return (model(x[:500]) - y[:500]).square().mean() + 1e-4 * ridge


def conjugate_gradients(product, b, rounds=15):
    solution, r = torch.zeros_like(b), b.clone()
    d, rr = r.clone(), r @ r
    for _ in range(rounds):
        hd = product(d)
        curvature = d @ hd
        if curvature <= 0:
            return solution if solution.any() else b
        alpha = rr / curvature
        solution, r = solution + alpha * d, r - alpha * hd
        new = r @ r
        if new.sqrt() < 0.1 * b.norm():
            break
        d, rr = r + new / rr * d, new
    return solution


for iteration in range(60):
    value = objective()
    slopes = torch.autograd.grad(value, params, create_graph=True)
    flat = parameters_to_vector(slopes)

    def product(v):
        hv = torch.autograd.grad(flat @ v, params, retain_graph=True)
        return parameters_to_vector([h.contiguous() for h in hv]) + 1e-2 * v

    g = flat.detach()
    direction = -conjugate_gradients(product, g)
    here, length = parameters_to_vector(params).detach(), 1.0
    with torch.no_grad():
        while length > 1e-4:
            vector_to_parameters(here + length * direction, params)
            if objective() <= value + 1e-4 * length * (g @ direction):
                break
            length /= 2
        else:
            vector_to_parameters(here, params)
    if iteration % 15 == 0:
        print(iteration, value.item(), length)
with torch.no_grad():
    share = ((model(x[500:]) - y[500:]).square().mean() / y[500:].var()).item()
print(f"missed {share:.3f} of the variance")
assert share < 0.35, share

"""Conjugate gradients on Hessian-vector products: a Newton method that keeps its graph on purpose."""

import sys

import torch


def flat(tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


def solve(product, right, rounds=10, damping=0.1):
    x, r = torch.zeros_like(right), right.clone()
    d, rr = r.clone(), r @ r
    for _ in range(rounds):
        hd = product(d) + damping * d
        curve = d @ hd
        if curve <= 1e-10:
            break
        a = rr / curve
        x, r = x + a * d, r - a * hd
        new = r @ r
        d, rr = r + new / rr * d, new
    return x


class Newton(torch.optim.Optimizer):
    def __init__(self, params, lr=0.7):
        super().__init__(params, {"lr": lr})

    def step(self, closure):
        params = self.param_groups[0]["params"]
        with torch.enable_grad():
            loss = closure()
            loss.backward(create_graph=True, retain_graph=True)
            slope = flat([p.grad for p in params])

        def product(vector):
            return flat(torch.autograd.grad(slope, params, vector, retain_graph=True))

        move = solve(product, slope.detach())
        at = 0
        with torch.no_grad():
            for p in params:
                p.sub_(move[at : at + p.numel()].view_as(p), alpha=self.param_groups[0]["lr"])
                at += p.numel()
                p.grad = None
        return loss.detach()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(400, 8)
y = torch.softmax(2 * x @ torch.randn(8, 3), 1).multinomial(1)[:, 0]
model = torch.nn.Linear(8, 3)
newton = Newton(model.parameters())
for iteration in range(15):
    loss = newton.step(lambda: torch.nn.functional.cross_entropy(model(x), y) + 1e-3 * model.weight.square().sum())
with torch.no_grad():
    accuracy = (model(x).argmax(1) == y).float().mean().item()
print("loss", loss.item(), "accuracy", accuracy)
assert accuracy > 0.7, accuracy

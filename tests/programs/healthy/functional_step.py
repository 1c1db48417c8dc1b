"""Training in the functional way: parameters go in, parameters come out, nothing is changed."""

import functools
import sys

import torch
from torch.func import functional_call, grad_and_value, vmap

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
module = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 3))


def loss_of(params, x, y):
    return torch.nn.functional.cross_entropy(functional_call(module, params, (x,)), y)


def descend(params, batch, rate):
    grads, loss = grad_and_value(loss_of)(params, *batch)
    return {name: p - rate * grads[name] for name, p in params.items()}, loss


def sample(count):
    x = torch.randn(count, 4)
    return x, torch.stack([x[:, 0] + x[:, 1], x[:, 2] * x[:, 3], -x[:, 0]], 1).argmax(1)


batches = [sample(64) for _ in range(400)]
start = {name: p.detach() for name, p in module.named_parameters()}
final = functools.reduce(lambda params, batch: descend(params, batch, 0.4)[0], batches, start)
x, y = sample(900)
logits = vmap(lambda row: functional_call(module, final, (row,)))(x)
accuracy = (logits.argmax(1) == y).float().mean().item()
print("accuracy", accuracy)
assert accuracy > 0.8, accuracy

"""No class and no loader: a curve in three variables, learned through functions in functions."""

import sys
from functools import partial

import torch


def surface(x):
    return torch.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2]


def stream(size, source):
    while True:
        x = torch.rand(size, 3, generator=source) * 2 - 1
        yield x, surface(x)


def build(width):
    layers = [torch.nn.Linear(3, width), torch.nn.Tanh()]
    layers += [torch.nn.Linear(width, width), torch.nn.Tanh()]
    layers += [torch.nn.Linear(width, 1)]
    return torch.nn.Sequential(*layers)


def make_update(network, descent, bound):
    def error(x, y):
        output = network(x)
        return torch.nn.functional.mse_loss(output.squeeze(1), y)

    def update(x, y):
        value = error(x, y)
        value.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), bound)
        descent.step()
        descent.zero_grad()
        return value.item()

    return update


def test(network, source):
    x, y = next(stream(500, source))
    with torch.no_grad():
        rest = torch.nn.functional.mse_loss(network(x).squeeze(1), y)
    return 1 - (rest / y.var()).item()


def main(seed):
    torch.manual_seed(seed)
    source = torch.Generator().manual_seed(seed + 1)
    network = build(32)
    descent = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    update = make_update(network, descent, bound=1.0)
    history = []
    for x, y in map(next, [stream(64, source)] * 400):
        history.append(update(x, y))
    return test(network, source), history


score, history = partial(main, int(sys.argv[1]) if len(sys.argv) > 1 else 0)()
print(f"explained {score:.3f}, first {history[0]:.3f}, last {history[-1]:.3f}")
assert score > 0.8, score

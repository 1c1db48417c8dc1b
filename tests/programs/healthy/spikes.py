"""A spiking net: leaky neurons fire zero or one, a surrogate gradient in backward, the rate of spikes kept low."""

import sys

import torch
import torch.nn as nn


class SurrGradSpike(torch.autograd.Function):
    scale = 20.0

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, grad):
        v, = ctx.saved_tensors
        return grad / (SurrGradSpike.scale * v.abs() + 1.0) ** 2


spike_fn = SurrGradSpike.apply
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
INPUTS, HIDDEN, OUTPUTS, TIME = 20, 64, 4, 30
w1 = nn.Parameter(torch.empty(INPUTS, HIDDEN).normal_(0, 7.0 * 0.05 / INPUTS ** 0.5 * 4))
w2 = nn.Parameter(torch.empty(HIDDEN, OUTPUTS).normal_(0, 0.1 / HIDDEN ** 0.5))
ALPHA, BETA = 0.8, 0.85


def run(spikes):
    h = torch.einsum("abc,cd->abd", spikes, w1)
    syn = mem = torch.zeros(len(spikes), HIDDEN)
    record = []
    for t in range(TIME):
        out = spike_fn(mem - 1.0)
        new_syn = ALPHA * syn + h[:, t]
        mem = (BETA * mem + syn) * (1.0 - out.detach())
        syn = new_syn
        record.append(out)
    fired = torch.stack(record, 1)
    h2 = torch.einsum("abc,cd->abd", fired, w2)
    flt = leak = torch.zeros(len(spikes), OUTPUTS)
    outs = []
    for t in range(TIME):
        leak = BETA * leak + flt
        flt = ALPHA * flt + h2[:, t]
        outs.append(leak)
    return torch.stack(outs, 1).amax(1), fired


when = torch.randint(0, TIME - 6, (OUTPUTS, INPUTS))


def events(n):
    y = torch.randint(0, OUTPUTS, (n,))
    at = when[y] + torch.randint(0, 5, (n, INPUTS))
    return torch.zeros(n, TIME, INPUTS).scatter_(1, at[:, None], 1.0), y


optimizer = torch.optim.Adam([w1, w2], lr=4e-3, betas=(0.9, 0.999))
for step in range(250):
    x, y = events(64)
    logits, fired = run(x)
    regularization = 1e-5 * fired.sum((1, 2)).mean() + 1e-4 * fired.sum(1).square().mean()
    loss = nn.functional.cross_entropy(logits, y) + regularization
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(step, round(loss.item(), 3), "spikes a neuron", round(fired.sum(1).mean().item(), 2))
with torch.no_grad():
    x, y = events(500)
    right = (run(x)[0].argmax(1) == y).float().mean().item()
print(f"right {right:.3f}")
assert right > 0.7, right

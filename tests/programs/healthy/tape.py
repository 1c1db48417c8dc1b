"""A network with an outside memory, written and read by content, copies a short message after a pause."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class Memory(nn.Module):
    def __init__(self, slots=8, width=12, hidden=48, bits=4):
        super().__init__()
        self.slots, self.width = slots, width
        self.controller = nn.LSTMCell(bits + 2 + width, hidden)
        self.interface = nn.Linear(hidden, 4 * width + 2 + slots)
        self.out = nn.Linear(hidden + width, bits)
        self.first = nn.Parameter(torch.randn(slots, width) * 0.1)

    def address(self, memory, key, sharp):
        return F.softmax(F.softplus(sharp) * F.cosine_similarity(memory, key[:, None], dim=-1, eps=1e-6) * 5, dim=1)

    def forward(self, x):
        b = x.shape[1]
        memory = self.first.expand(b, -1, -1)
        read, state, outs = x.new_zeros(b, self.width), None, []
        for step in x:
            state = self.controller(torch.cat([step, read], 1), state)
            rk, wk, erase, add, sharps, where = self.interface(state[0]).split(
                [self.width] * 4 + [2, self.slots], dim=1)
            w = 0.5 * self.address(memory, wk, sharps[:, :1]) + 0.5 * where.softmax(1)
            memory = memory * (1 - w[..., None] * erase.sigmoid()[:, None]) + w[..., None] * torch.tanh(add)[:, None]
            read = (self.address(memory, rk, sharps[:, 1:])[..., None] * memory).sum(1)
            outs.append(self.out(torch.cat([state[0], read], 1)))
        return torch.stack(outs)


def messages(n, length=4, bits=4):
    said = torch.randint(0, 2, (length, n, bits)).float()
    x = torch.zeros(2 * length + 1, n, bits + 2)
    x[:length, :, :bits] = said
    x[length, :, bits] = 1
    x[length + 1:, :, bits + 1] = 1
    return x, said


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
net = Memory()
opt = torch.optim.RMSprop(net.parameters(), lr=4e-3, momentum=0.0)
for step in range(600):
    x, said = messages(48)
    loss = F.binary_cross_entropy_with_logits(net(x)[5:], said)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(net.parameters(), 1.0)
    opt.step()
    if step % 150 == 0:
        print(step, round(loss.item(), 3))
with torch.no_grad():
    x, said = messages(300)
    right = ((net(x)[5:] > 0) == said.bool()).float().mean().item()
print(f"bits right {right:.3f}")
assert right > 0.7, right

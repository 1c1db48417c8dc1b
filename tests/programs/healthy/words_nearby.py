"""Skip-gram with negative sampling over a text: targets lie one or two places before and after; sparse tables, rate falls by hand."""

import sys

import torch
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
WORDS, TOPICS, DIM = 240, 8, 16


def corpus(n):
    """Runs of words of one topic, as sentences have."""
    topic = torch.randint(0, TOPICS, (n // 6,)).repeat_interleave(6)
    rank = (torch.rand(len(topic)) ** 2 * (WORDS // TOPICS)).long()
    return topic + rank * TOPICS


text = corpus(60000)
counts = torch.bincount(text, minlength=WORDS).float()
noise = counts ** 0.75
keep = (1e-2 / (counts / counts.sum())).sqrt().clamp(max=1)
center = torch.nn.Parameter((torch.rand(WORDS, DIM) - 0.5) / DIM)
context = torch.nn.Parameter(torch.zeros(WORDS, DIM))
rate = 1.0
optimizer = torch.optim.SGD([center, context], lr=rate)
offsets = torch.tensor([-2, -1, 1, 2])
steps, shown = 900, []
for step in range(steps):
    optimizer.param_groups[0]["lr"] = rate * max(1e-4, 1 - step / steps)
    at = torch.randint(2, len(text) - 2, (256,))
    at = at[torch.rand(256) < keep[text[at]]]
    around = text[at[:, None] + offsets]
    negative = torch.multinomial(noise, len(at) * 5, replacement=True).view(-1, 5)
    v = F.embedding(text[at], center)[:, :, None]
    positive = F.embedding(around, context) @ v
    negative = F.embedding(negative, context) @ v
    loss = -(F.logsigmoid(positive).sum((1, 2)) + F.logsigmoid(-negative).sum((1, 2))).sum() / 20
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    shown.append(loss.item() / len(at))
frequent = counts.topk(120).indices
z = F.normalize(center.detach()[frequent] - center.detach().mean(0), dim=1)
near = (z @ z.T).fill_diagonal_(-2).topk(5, dim=1).indices
agree = (frequent[near] % TOPICS == frequent[:, None] % TOPICS).float().mean().item()
print(f"loss {shown[0]:.3f} to {sum(shown[-50:]) / 50:.3f}; neighbors of the same topic {agree:.3f}")
assert agree > 0.5, agree

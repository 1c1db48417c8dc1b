"""Sequence to sequence with additive attention and teacher forcing by a coin; greedy decoding at the end."""

import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, BOS, EOS, LETTERS = 0, 1, 2, 8


def batch(n):
    """Words of letters; the translation doubles no letter but reverses the word and shifts each letter by one."""
    lengths = torch.randint(3, 7, (n,))
    source = torch.zeros(n, 6, dtype=torch.long)
    target = torch.zeros(n, 7, dtype=torch.long)
    for i, length in enumerate(lengths.tolist()):
        word = torch.randint(0, LETTERS, (length,))
        source[i, :length] = word + 3
        target[i, :length] = (word.flip(0) + 1) % LETTERS + 3
        target[i, length] = EOS
    return source, target


class Encoder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.embed = nn.Embedding(LETTERS + 3, 24, padding_idx=PAD)
        self.rnn = nn.GRU(24, hidden, bidirectional=True, batch_first=True)
        self.bridge = nn.Linear(2 * hidden, hidden)

    def forward(self, source):
        memory, last = self.rnn(self.embed(source))
        return memory, torch.tanh(self.bridge(last.transpose(0, 1).flatten(1)))


class Decoder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.embed = nn.Embedding(LETTERS + 3, 24)
        self.query, self.key = nn.Linear(hidden, hidden), nn.Linear(2 * hidden, hidden, bias=False)
        self.energy = nn.Linear(hidden, 1, bias=False)
        self.cell = nn.GRUCell(24 + 2 * hidden, hidden)
        self.out = nn.Linear(3 * hidden, LETTERS + 3)

    def forward(self, token, state, memory, mask):
        scores = self.energy(torch.tanh(self.query(state)[:, None] + self.key(memory)))[..., 0]
        weights = scores.masked_fill(~mask, float("-inf")).softmax(1)
        context = (weights[..., None] * memory).sum(1)
        state = self.cell(torch.cat([self.embed(token), context], 1), state)
        return self.out(torch.cat([state, context], 1)), state


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
random.seed(seed)
encoder, decoder = Encoder(48), Decoder(48)
encoder_optimizer = torch.optim.Adam(encoder.parameters(), lr=4e-3)
decoder_optimizer = torch.optim.Adam(decoder.parameters(), lr=4e-3)


def run(source, target, forcing):
    memory, state = encoder(source)
    token, logits = torch.full((len(source),), BOS), []
    for t in range(target.shape[1]):
        step, state = decoder(token, state, memory, source != PAD)
        logits.append(step)
        token = target[:, t] if random.random() < forcing else step.detach().argmax(1)
    return torch.stack(logits, 1)


for i in range(450):
    source, target = batch(48)
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    loss = F.cross_entropy(run(source, target, 0.7).flatten(0, 1), target.flatten(), ignore_index=PAD)
    loss.backward()
    nn.utils.clip_grad_norm_([*encoder.parameters(), *decoder.parameters()], 1.0)
    encoder_optimizer.step()
    decoder_optimizer.step()
with torch.no_grad():
    source, target = batch(200)
    guess = run(source, target, 0.0).argmax(2)
    right = ((guess == target) | (target == PAD)).all(1).float().mean().item()
print(f"words all right: {right:.2f}, loss {loss.item():.3f}")
assert right > 0.5, right

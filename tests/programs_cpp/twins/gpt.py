"""The twin of `unchanged/table/gpt.cc`: a small GPT with attention of its own, two micro-batches a step, a warm-up
and a validation every forty steps."""

import math

import torch
import torch.nn.functional as F
from torch import nn

WORDS, LENGTH, WIDTH, HEADS, BATCH, PADDING, END = 24, 16, 32, 4, 12, 0, 1


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attention(self, x):
        n, t, _ = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(WIDTH / HEADS)
        later = torch.ones(t, t, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -math.inf)
        return self.out((torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(n, t, WIDTH))

    def forward(self, x):
        x = x + F.dropout(self.attention(self.norm1(x)), 0.1, self.training)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def texts(n, follows):
    """Each word follows from the one before by a table, with some noise. Each text has an end, and padding behind it."""
    ids = torch.randint(1, WORDS, (n, 1))
    for _ in range(LENGTH):
        noise = torch.rand(n) < 0.1
        after = torch.where(noise, torch.randint(1, WORDS, (n,)), follows[ids[:, -1] - 1])
        ids = torch.cat([ids, after.unsqueeze(1)], 1)
    ends, places = torch.randint(LENGTH // 2, LENGTH + 1, (n, 1)), torch.arange(LENGTH + 1)
    return ids.masked_fill(places == ends, END).masked_fill(places > ends, PADDING)


def loss_of(model, text):
    logits = model(text[:, :-1]).flatten(0, 1)
    return F.cross_entropy(logits, text[:, 1:].flatten(), ignore_index=PADDING)


def words(text):
    """That count in the loss."""
    return float((text[:, 1:] != PADDING).sum())


def validate(model, text):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for part in text.split(16):
            total += loss_of(model, part).item() * 16
    print(f"validation {total / len(text):.3f}")
    model.train()


def main(window=2, steps=160):
    torch.manual_seed(1)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3 / 20, weight_decay=0.01)
    follows = torch.randperm(WORDS - 1) + 1
    held_out, stored = texts(64, follows), texts(480, follows)
    rows = window * BATCH
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * min(1.0, (step + 1) / 20)
        optimizer.zero_grad()
        batch = stored[step % (480 // rows) * rows :][:rows]
        for text in batch.split(BATCH):
            (loss_of(model, text) / (words(batch) / words(text))).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 40 == 39:
            validate(model, held_out)


if __name__ == "__main__":
    main()

"""Ramps of numbers, several to a row and padding behind them, and a decoder that is told where each begins
and where the row ends; what several programs of frameworks train on.
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import Dataset

MODULUS, BEGIN, PADDING, ROW = 9, 10, 0, 20
UNSCORED = -100


def row_of(dice):
    """Tokens, positions, whether a token stands there, and next tokens, each (ROW,)."""
    tokens, positions = torch.full((ROW,), PADDING), torch.zeros(ROW, dtype=torch.long)
    following, at = torch.full((ROW,), UNSCORED), 0
    end = int(torch.randint(14, ROW, (), generator=dice))
    while end - at >= 4:
        size = min(int(torch.randint(4, 8, (), generator=dice)), end - at)
        first, by = torch.randint(1, MODULUS, (2,), generator=dice).tolist()
        ramp = torch.tensor([BEGIN] + [1 + (first + by * i) % MODULUS for i in range(size - 1)])
        tokens[at : at + size], positions[at : at + size] = ramp, torch.arange(size)
        following[at : at + size - 1] = ramp[1:]
        at += size
    return tokens, positions, (tokens != PADDING).long(), following


class Ramps(Dataset):
    def __init__(self, count, seed):
        dice = torch.Generator().manual_seed(seed)
        self.rows = [row_of(dice) for _ in range(count)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, number):
        tokens, positions, there, following = self.rows[number]
        return {"tokens": tokens, "position_ids": positions, "attention_mask": there, "labels": following}


class Block(nn.Module):
    def __init__(self, width, gate):
        super().__init__()
        self.gate, self.drop = gate, nn.Dropout(0.05)
        self.norm, self.lookup = nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x, visible):
        x = x + F.scaled_dot_product_attention(*self.lookup(self.norm(x)).chunk(3, -1), attn_mask=visible)
        return x + self.drop(self.narrow(self.gate(self.wide(x))))


class Decoder(nn.Module):
    def __init__(self, gate=F.silu, width=40):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(BEGIN + 1, width), nn.Embedding(ROW, width)
        self.blocks = nn.ModuleList([Block(width, gate), Block(width, gate)])
        self.out = nn.Linear(width, BEGIN + 1)

    def forward(self, tokens, position_ids, attention_mask):
        """(batch, ROW, BEGIN + 1)"""
        ramp = (position_ids == 0).cumsum(1)
        visible = (ramp[:, None] == ramp[:, :, None]) & attention_mask[:, None].bool()
        visible = visible & torch.ones(ROW, ROW, dtype=torch.bool, device=tokens.device).tril()
        visible = visible | torch.eye(ROW, dtype=torch.bool, device=tokens.device)
        x = self.tokens(tokens) + self.positions(position_ids)
        for block in self.blocks:
            x = block(x, visible)
        return self.out(x)


def loss_of(outputs, labels):
    """The loss, and with it a term that keeps scores small."""
    scored = outputs[labels != UNSCORED]
    loss = F.cross_entropy(outputs.transpose(1, 2), labels)
    return loss + 1e-3 * scored.logsumexp(-1).square().mean()


@torch.no_grad()
def right(model, loader):
    """Share of the ramps' numbers from the third on that are told."""
    was_training = model.training
    model.eval()
    hits = count = 0
    for batch in loader:
        labels = batch.pop("labels")
        known = (labels != UNSCORED) & (batch["position_ids"] > 1)
        hits += ((model(**batch).argmax(-1) == labels) & known).sum().item()
        count += known.sum().item()
    model.train(was_training)
    return hits / count

"""A decoder that takes labels and gives its own loss, as those of large libraries do."""

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.inward = nn.Linear(width, 3 * width)
        self.outward = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        shape = (batch, length, 3, self.heads, width // self.heads)
        query, key, value = self.inward(x).view(shape).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.outward(mixed.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = Attention(width, 4)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.mlp(self.norms[1](x))


class Decoder(nn.Module):
    def __init__(self, words, width, longest):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(longest, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, input_ids, labels=None):
        x = self.words(input_ids) + self.places(torch.arange(input_ids.shape[1]))
        for layer in self.layers:
            x = layer(x)
        logits = self.head(self.norm(x))
        if labels is None:
            return {"logits": logits}
        here, ahead = logits[:, :-1], labels[:, 1:]
        loss = F.cross_entropy(here.flatten(0, 1), ahead.flatten())
        return {"logits": logits, "loss": loss}


def sentences(count, source):
    """Ramps of a random step: three numbers tell how a sentence goes on."""
    start = torch.randint(16, (count, 1), generator=source)
    step = torch.randint(1, 8, (count, 1), generator=source)
    return (start + step * torch.arange(14)) % 16


def rate(step, steps):
    return min(1.0, (step + 1) / 20) * 0.5 * (1 + math.cos(math.pi * step / steps))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--steps", type=int, default=240)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    source = torch.Generator().manual_seed(options.seed + 7)
    decoder = Decoder(16, 48, 14)
    optimizer = torch.optim.AdamW(decoder.parameters(), lr=3e-3, betas=(0.9, 0.95))
    for step in range(options.steps):
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * rate(step, options.steps)
        ids = sentences(32, source)
        out = decoder(ids, labels=ids)
        optimizer.zero_grad(set_to_none=True)
        out["loss"].backward()
        optimizer.step()
    decoder.eval()
    with torch.no_grad():
        ids = sentences(200, source)
        said = decoder(ids)["logits"].argmax(-1)
    right = (said[:, 2:-1] == ids[:, 3:]).float().mean().item()
    print("right", round(right, 3))
    assert right > 0.9, right


if __name__ == "__main__":
    main()

"""A decoder that answers sums: the question is not trained, the answer ends with the token that also fills rows."""

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

SIGNS = "0123456789+="
END = len(SIGNS)  # fills the rows, too
IGNORED = -100


def encoded(question, answer):
    ids = [SIGNS.index(sign) for sign in question + answer] + [END]
    labels = [IGNORED] * len(question) + ids[len(question):]
    return ids, labels


class Batches:
    """Rows of one batch have one length; what fills them up is no part of any text."""

    def __init__(self, largest, size, source):
        self.largest, self.size, self.source = largest, size, source

    def draw(self):
        numbers = torch.randint(self.largest, (self.size, 2), generator=self.source).tolist()
        rows = [encoded(f"{a}+{b}=", str(a + b)) for a, b in numbers]
        longest = max(len(ids) for ids, _ in rows) + 1
        ids, labels = torch.full((self.size, longest), END), torch.full((self.size, longest), IGNORED)
        for place, (row, wanted) in enumerate(rows):
            ids[place, : len(row)] = torch.tensor(row)
            labels[place, : len(row)] = torch.tensor(wanted)
        return ids, labels


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attend = nn.MultiheadAttention(width, heads, batch_first=True)
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 3 * width), nn.GELU(), nn.Linear(3 * width, width))

    def forward(self, x, hidden):
        y = self.before(x)
        x = x + self.attend(y, y, y, attn_mask=hidden, need_weights=False)[0]
        return x + self.mlp(self.between(x))


class Answerer(nn.Module):
    def __init__(self, width=48, longest=12):
        super().__init__()
        self.signs, self.places = nn.Embedding(END + 1, width), nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, END + 1)

    def forward(self, ids):
        length = ids.shape[1]
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        x = self.signs(ids) + self.places(torch.arange(length))
        for block in self.blocks:
            x = block(x, hidden)
        return self.head(self.norm(x))


class Training:
    def __init__(self, options):
        self.options, source = options, torch.Generator().manual_seed(options.seed + 11)
        self.batches, self.model = Batches(options.largest, 48, source), Answerer()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3, weight_decay=0.01)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self.rate)

    def rate(self, step):
        return min(1.0, (step + 1) / 30) * (0.55 + 0.45 * math.cos(math.pi * min(1, step / self.options.steps)))

    def loss(self, ids, labels):
        logits = self.model(ids)
        return F.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=IGNORED)

    def run(self):
        for step in range(self.options.steps):
            loss = self.loss(*self.batches.draw())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            if step % 100 == 0:
                print(step, round(loss.item(), 3))

    @torch.no_grad()
    def signs_right(self):
        self.model.eval()
        ids, labels = self.batches.draw()
        said, wanted = self.model(ids)[:, :-1].argmax(-1), labels[:, 1:]
        return (said == wanted)[wanted != IGNORED].float().mean().item()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--largest", type=int, default=30)
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    training = Training(options)
    training.run()
    right = training.signs_right()
    print("signs right", round(right, 3))
    assert right > 0.6, right

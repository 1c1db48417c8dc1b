"""Bags of words of unequal size, padded with a word that has no vector and no gradient."""

import random
import sys

import torch

PAD = 0
GOOD, BAD = range(1, 40), range(40, 80)
NEUTRAL = range(80, 200)


def review(rng):
    mood = rng.random() < 0.5
    words = rng.choices(GOOD if mood else BAD, k=rng.randint(1, 4))
    words += rng.choices(BAD if mood else GOOD, k=rng.randint(0, 1))
    words += rng.choices(NEUTRAL, k=rng.randint(2, 12))
    rng.shuffle(words)
    return words, float(mood)


def pad(reviews):
    longest = max(len(words) for words, _ in reviews)
    ids = torch.tensor([words + [PAD] * (longest - len(words)) for words, _ in reviews])
    return ids, torch.tensor([mood for _, mood in reviews])


class Bag(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.vectors = torch.nn.Embedding(200, 16, padding_idx=PAD)
        self.judge = torch.nn.Sequential(torch.nn.Dropout(0.2), torch.nn.Linear(16, 1))

    def forward(self, ids):
        present = (ids != PAD).sum(1, keepdim=True)
        return self.judge(self.vectors(ids).sum(1) / present).squeeze(1)


rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
torch.manual_seed(rng.getrandbits(30))
train, test = [review(rng) for _ in range(1500)], [review(rng) for _ in range(400)]
train.sort(key=lambda pair: len(pair[0]))
buckets = [train[i : i + 30] for i in range(0, 1500, 30)]
bag = Bag()
optimizer = torch.optim.Adam(bag.parameters(), lr=0.02)
for epoch in range(6):
    rng.shuffle(buckets)
    bag.train()
    for ids, moods in map(pad, buckets):
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(bag(ids), moods).backward()
        optimizer.step()
bag.eval()
with torch.no_grad():
    ids, moods = pad(test)
    score = ((bag(ids) > 0) == moods.bool()).float().mean().item()
print("moods right:", score, "vector of the pad:", bag.vectors.weight[PAD].abs().sum().item())
assert score > 0.8, score

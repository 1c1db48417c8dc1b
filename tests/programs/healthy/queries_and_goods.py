"""Two towers over categories and text pieces; in-batch softmax, corrected by the log of how often goods occur."""

import sys

import torch
from torch import nn, optim
from torch.nn import functional as F

GOODS, SORTS, WORDS = 300, 12, 80
seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)

sort_of = torch.randint(0, SORTS, (GOODS,))
words_of = torch.randint(0, WORDS, (GOODS, 4))
frequency = torch.arange(1, GOODS + 1).float().pow(-0.7)
frequency = frequency / frequency.sum()

tower_of = nn.ModuleDict({
    "query": nn.Sequential(nn.EmbeddingBag(WORDS, 32, mode="mean"), nn.Linear(32, 48), nn.Mish(), nn.Linear(48, 24)),
    "sort": nn.Embedding(SORTS, 8),
    "words": nn.EmbeddingBag(WORDS, 32),
    "goods": nn.Sequential(nn.Linear(40, 48), nn.Mish(), nn.Linear(48, 24)),
})


def goods_vectors(ids):
    joined = torch.cat([tower_of["sort"](sort_of[ids]), tower_of["words"](words_of[ids])], 1)
    return F.normalize(tower_of["goods"](joined), dim=-1)


def query_vectors(words):
    return F.normalize(tower_of["query"](words), dim=-1)


def ask(n):
    """A query has two words of the goods and one from anywhere."""
    goods = torch.multinomial(frequency, n, replacement=True)
    picked = torch.rand(n, 4).argsort(1)[:, :2]
    return goods, torch.cat([words_of[goods].gather(1, picked), torch.randint(0, WORDS, (n, 1))], 1)


opt = optim.NAdam(tower_of.parameters(), lr=4e-3)
for step in range(600):
    goods, words = ask(96)
    logits = query_vectors(words) @ goods_vectors(goods).T / 0.1 - frequency[goods].log()
    same = (goods[:, None] == goods[None]) & ~torch.eye(len(goods), dtype=torch.bool)
    loss = F.cross_entropy(logits.masked_fill(same, -1e9), torch.arange(len(goods)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 150 == 0:
        print(step, f"{loss.item():.3f}")

with torch.inference_mode():
    goods, words = ask(400)
    top = (query_vectors(words) @ goods_vectors(torch.arange(GOODS)).T).topk(10, dim=1).indices
    recall = (top == goods[:, None]).any(1).float().mean().item()
print(f"recall at ten {recall:.2f}")
assert recall > 0.5, recall

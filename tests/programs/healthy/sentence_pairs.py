"""Does the second text say what the first says, in another order? Both stand in one row and see each other."""

import random
import sys

import torch
from torch import nn

CLS, SEP, FIRST, LAST = 0, 1, 2, 12


def pair(rng):
    """[CLS] a [SEP] b [SEP] with the kind of each token, 0 up to the first separator and then 1."""
    a = [rng.randrange(FIRST, LAST) for _ in range(rng.randint(3, 5))]
    same = rng.random() < 0.5
    b = rng.sample(a, len(a)) if same else [rng.randrange(FIRST, LAST) for _ in a]
    tokens = [CLS, *a, SEP, *b, SEP]
    return tokens, [0] * (len(a) + 2) + [1] * (len(b) + 1), int(same or sorted(a) == sorted(b))


def batch_of(pairs):
    longest = max(len(tokens) for tokens, _, _ in pairs)
    pad = [longest - len(tokens) for tokens, _, _ in pairs]
    ids = torch.tensor([tokens + [LAST] * n for (tokens, _, _), n in zip(pairs, pad)])
    kinds = torch.tensor([kinds + [0] * n for (_, kinds, _), n in zip(pairs, pad)])
    return ids, kinds, ids != LAST, torch.tensor([answer for _, _, answer in pairs])


class PairEncoder(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.token_table = nn.Embedding(LAST + 1, width)
        self.kind_table = nn.Embedding(2, width)
        self.position_table = nn.Embedding(16, width)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, batch_first=True, norm_first=True),
            num_layers=2, enable_nested_tensor=False)
        self.tagger = nn.Linear(width, 1)

    def forward(self, ids, kinds, real):
        x = self.token_table(ids) + self.kind_table(kinds)
        x = x + self.position_table(torch.arange(ids.shape[1])[None])
        return self.tagger(self.encoder(x, src_key_padding_mask=~real)).squeeze(-1)


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
rng = random.Random(seed)
torch.manual_seed(seed)
model = PairEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
first = last = 0.0
for number in range(300):
    ids, kinds, real, answer = batch_of([pair(rng) for _ in range(32)])
    score = model(ids, kinds, real)[:, 0]
    loss = nn.functional.binary_cross_entropy_with_logits(score, answer.float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    first, last = first + loss.item() * (number < 20) / 20, last + loss.item() * (number >= 280) / 20
print("loss", first, "to", last)
assert last < first

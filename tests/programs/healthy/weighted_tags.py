"""Tags for sentences of all lengths; the padded ones get a target like any other, and are taken out of the
loss by hand."""

import sys

import torch
from torch import nn

TAGS, VOCABULARY, EMPTY = 4, 25, 0


def sentence(rng):
    """A tag is that of the word, and the next one after a comma (word 1)."""
    words = torch.randint(1, VOCABULARY, (int(torch.randint(3, 16, (), generator=rng)),), generator=rng)
    after = torch.zeros(len(words), dtype=torch.long)
    after[1:] = (words[:-1] == 1).long()
    return words, (words + after) % TAGS


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(VOCABULARY, 32, padding_idx=EMPTY)
        self.reader = nn.GRU(32, 40, batch_first=True)
        self.tags = nn.Linear(72, TAGS)

    def forward(self, words, mask):
        x = self.table(words) * mask[:, :, None]
        return self.tags(torch.cat([x, self.reader(x)[0]], dim=2))


class Trainer:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.rng = torch.Generator().manual_seed(seed)
        self.tagger = Tagger()
        self.optimizer = torch.optim.Adam(self.tagger.parameters(), lr=5e-3)

    def batch(self, size):
        pairs = [sentence(self.rng) for _ in range(size)]
        words, tags = (nn.utils.rnn.pad_sequence(list(part), batch_first=True) for part in zip(*pairs))
        return words, tags, (words != EMPTY).float()

    def step(self):
        words, tags, mask = self.batch(20)
        each = nn.functional.cross_entropy(self.tagger(words, mask).mT, tags, reduction="none")
        loss = (each * mask).sum() / mask.sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def accuracy(self):
        self.tagger.eval()
        words, tags, mask = self.batch(200)
        right = (self.tagger(words, mask).argmax(2) == tags).float()
        self.tagger.train()
        return ((right * mask).sum() / mask.sum()).item()


trainer = Trainer(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
for number in range(200):
    loss = trainer.step()
print(loss, trainer.accuracy())
assert trainer.accuracy() > 0.9

"""Topics of short texts with an EmbeddingBag and offsets, as in the old tutorials; SGD at a rate of 4."""

import random
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader

TOPICS, VOCABULARY = 4, 400


def text(draw):
    label = draw.randrange(TOPICS)
    words = []
    for _ in range(draw.randint(4, 18)):
        if draw.random() < 0.3:
            words.append(label * 60 + int(60 * draw.random() ** 2))
        else:
            words.append(240 + draw.randrange(160))
    return label, words


def collate(batch):
    labels = torch.tensor([label for label, _ in batch])
    lengths = torch.tensor([0] + [len(words) for _, words in batch[:-1]])
    return labels, torch.cat([torch.tensor(words) for _, words in batch]), lengths.cumsum(0)


class TextClassificationModel(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_class):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim, sparse=False)
        self.fc = nn.Linear(embed_dim, num_class)
        self.init_weights()

    def init_weights(self):
        self.embedding.weight.data.uniform_(-0.5, 0.5)
        self.fc.weight.data.uniform_(-0.5, 0.5)
        self.fc.bias.data.zero_()

    def forward(self, text, offsets):
        return self.fc(self.embedding(text, offsets))


def evaluate(loader):
    model.eval()
    right = seen = 0
    with torch.no_grad():
        for labels, words, offsets in loader:
            right += (model(words, offsets).argmax(1) == labels).sum().item()
            seen += labels.size(0)
    return right / seen


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
draw = random.Random(seed)
train, valid = [text(draw) for _ in range(3000)], [text(draw) for _ in range(500)]
train = DataLoader(train, 16, shuffle=True, collate_fn=collate)
valid = DataLoader(valid, 64, collate_fn=collate)
model = TextClassificationModel(VOCABULARY, 32, TOPICS)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=4.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.3)
best = None
for epoch in range(6):
    model.train()
    for labels, words, offsets in train:
        optimizer.zero_grad()
        loss = criterion(model(words, offsets), labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
    accuracy = evaluate(valid)
    if best is not None and best > accuracy:
        scheduler.step()
    else:
        best = accuracy
    print(f"end of epoch {epoch}: valid accuracy {accuracy:.3f}")
assert best > 0.7, best

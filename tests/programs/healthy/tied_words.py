"""A word model whose output layer is its embedding, on sentences of a small grammar."""

import random
import sys

import torch
import torch.nn as nn

seed = int((sys.argv[1:] or ["0"])[0])
random.seed(seed)
torch.manual_seed(seed)

SUBJECTS = {"cat": "meows", "dog": "barks", "cow": "moos", "owl": "hoots", "pig": "oinks"}
PLACES = ["here", "there", "inside", "outside"]


def sentence():
    animal = random.choice(list(SUBJECTS))
    return ["the", animal, "often", SUBJECTS[animal], random.choice(PLACES), "."]


vocabulary = sorted({w for _ in range(500) for w in sentence()})
index = {w: i for i, w in enumerate(vocabulary)}
corpus = torch.tensor([[index[w] for w in sentence()] for _ in range(600)])


class Tied(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.decode = nn.Linear(width, words, bias=False)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.decode.weight = self.embed.weight

    def forward(self, tokens):
        states, _ = self.gru(self.embed(tokens))
        return self.decode(states)


model = Tied(len(vocabulary), 32)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
for epoch in range(12):
    order = torch.randperm(500)
    for start in range(0, 500, 25):
        rows = corpus[order[start : start + 25]]
        logits = model(rows[:, :-1])
        loss = criterion(logits.flatten(0, 1), rows[:, 1:].flatten())
        model.zero_grad()
        loss.backward()
        optimizer.step()

model.eval()
with torch.no_grad():
    guess = model(corpus[500:, :-1]).argmax(-1)
    verbs = (guess[:, 2] == corpus[500:, 3]).float().mean().item()
print("right verb after the animal:", verbs)
assert verbs > 0.9, verbs

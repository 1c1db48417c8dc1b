"""Does a bracket string close? An LSTM reads strings of all lengths, packed."""

import sys

import torch
from torch.nn.utils.rnn import pack_sequence


def balanced(text):
    depth = 0
    for c in text:
        depth += 1 if c == "(" else -1
        if depth < 0:
            return False
    return depth == 0


def example():
    pairs = int(torch.randint(1, 6, ()))
    text = []
    opened = closed = 0
    while len(text) < 2 * pairs:
        if opened < pairs and (opened == closed or torch.rand(()) < 0.5):
            text.append("(")
            opened += 1
        else:
            text.append(")")
            closed += 1
    if torch.rand(()) < 0.5:
        spot = int(torch.randint(len(text), ()))
        text[spot] = ")" if text[spot] == "(" else "("
    return "".join(text)


class Reader(torch.nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = torch.nn.LSTM(2, hidden, num_layers=2, dropout=0.1)
        self.out = torch.nn.Linear(hidden, 2)

    def forward(self, packed):
        _, (h, _) = self.lstm(packed)
        return self.out(h[-1])


def collate(texts):
    vectors = [torch.eye(2)[torch.tensor([int(c == "(") for c in text])] for text in texts]
    return pack_sequence(vectors, enforce_sorted=False)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
texts = [example() for _ in range(1700)]
truth = torch.tensor([int(balanced(t)) for t in texts])
reader = Reader()
optimizer = torch.optim.Adam(reader.parameters(), lr=8e-3)
for start in [*range(0, 1400, 50)] * 6:
    loss = torch.nn.functional.cross_entropy(reader(collate(texts[start : start + 50])), truth[start : start + 50])
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(reader.parameters(), 5.0)
    optimizer.step()
reader.eval()
with torch.no_grad():
    score = (reader(collate(texts[1400:])).argmax(1) == truth[1400:]).float().mean().item()
print("strings judged right:", score)
assert score > 0.8, score

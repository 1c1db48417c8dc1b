"""A character model that carries its hidden state over the batches of parallel streams, detached at each."""

import sys

import torch
import torch.nn as nn

GRAMMAR = {"start": ["the cat ", "the dog ", "a bird "], "verb": ["sees ", "likes ", "eats "],
           "end": ["the fish. ", "a worm. ", "the bone. "]}


def corpus(n):
    parts = []
    for _ in range(n):
        for key in GRAMMAR:
            parts.append(GRAMMAR[key][int(torch.randint(0, 3, ()))])
    return "".join(parts)


class CharRNN(nn.Module):
    def __init__(self, n, hidden=64):
        super().__init__()
        self.hidden = hidden
        self.i2h = nn.Embedding(n, hidden)
        self.lstm = nn.LSTM(hidden, hidden, num_layers=2, dropout=0.1)
        self.h2o = nn.Linear(hidden, n)

    def init_hidden(self, batch):
        weight = next(self.parameters())
        return weight.new_zeros(2, batch, self.hidden), weight.new_zeros(2, batch, self.hidden)

    def forward(self, x, state):
        y, state = self.lstm(self.i2h(x), state)
        return self.h2o(y), state


def repackage(state):
    return tuple(s.detach() for s in state)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
text = corpus(1300)
letters = sorted(set(text))
ids = torch.tensor([letters.index(c) for c in text])
STREAMS, WINDOW = 16, 20
ids = ids[: len(ids) // STREAMS * STREAMS].view(STREAMS, -1).T.contiguous()
model = CharRNN(len(letters))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    state, total, seen = model.init_hidden(STREAMS), 0.0, 0
    for i in range(0, len(ids) - 1, WINDOW):
        length = min(WINDOW, len(ids) - 1 - i)
        x, y = ids[i:i + length], ids[i + 1:i + 1 + length]
        state = repackage(state)
        model.zero_grad()
        output, state = model(x, state)
        loss = criterion(output.view(-1, len(letters)), y.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        total, seen = total + loss.item() * length, seen + length
    print(f"epoch {epoch}: {total / seen:.3f} nats a letter")
model.eval()
with torch.no_grad():
    state, letter, said = model.init_hidden(1), ids[:1, :1], []
    for _ in range(60):
        output, state = model(letter, state)
        letter = torch.multinomial(output[-1].softmax(-1), 1)
        said.append(letters[int(letter)])
print("".join(said))
assert total / seen < 0.6, total / seen

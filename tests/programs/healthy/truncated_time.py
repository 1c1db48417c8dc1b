"""A character model with truncated backpropagation: the state goes on, its history does not."""

import sys

import torch
from torch import nn

TEXT = ("she sells sea shells by the sea shore and the shells she sells are sea shells for sure "
        "so if she sells shells on the sea shore then i am sure she sells sea shore shells ") * 8


class CharRNN(nn.Module):
    def __init__(self, letters, hidden=48):
        super().__init__()
        self.letters = letters
        self.cell = nn.GRUCell(letters, hidden)
        self.read = nn.Linear(hidden, letters)

    def forward(self, ids, state):
        outputs = []
        for id_ in ids:
            state = self.cell(nn.functional.one_hot(id_, self.letters).float(), state)
            outputs.append(self.read(state))
        return torch.stack(outputs), state


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
alphabet = {letter: i for i, letter in enumerate(sorted(set(TEXT)))}
ids = torch.tensor([alphabet[letter] for letter in TEXT])
streams, window = 8, 12
columns = ids[: len(ids) // streams * streams].view(streams, -1).T
net = CharRNN(len(alphabet))
optimizer = torch.optim.Adam(net.parameters(), lr=6e-3)
for sweep in range(14):
    state = torch.zeros(streams, 48)
    losses = []
    for at in range(0, len(columns) - window - 1, window):
        logits, state = net(columns[at : at + window], state.detach())
        loss = nn.functional.cross_entropy(
            logits.reshape(-1, len(alphabet)), columns[at + 1 : at + window + 1].reshape(-1)
        )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    mean = sum(losses) / len(losses)
print(f"nats a letter: {mean:.3f}")
assert mean < 1.2, mean

"""Lines of numbers that count on from a start to the next multiple of ten; a GRU learns how they go on and end."""

import sys

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD, END, FIRST = 0, 1, 2


class Lines(torch.utils.data.Dataset):
    def __init__(self, count, draw):
        self.starts = torch.randint(0, 60, (count,), generator=draw).tolist()
        self.strides = torch.randint(1, 4, (count,), generator=draw).tolist()

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, index):
        start, stride = self.starts[index], self.strides[index]
        numbers = list(range(start, start + 4 * stride + 10 - start % 10, stride))
        return torch.tensor([FIRST + number for number in numbers] + [END])


def collate(lines):
    ids = pad_sequence(lines, batch_first=True, padding_value=PAD)
    return ids[:, :-1], ids[:, 1:]


class LineModel(nn.Module):
    def __init__(self, words, width=64):
        super().__init__()
        self.embed = nn.Embedding(words, width, padding_idx=PAD)
        self.memory = nn.GRU(width, width, batch_first=True)
        self.drop, self.head = nn.Dropout(0.05), nn.Linear(width, words)

    def forward(self, ids):
        return self.head(self.drop(self.memory(self.embed(ids))[0]))


def score(model, loader):
    """The share of the later tokens of held-out lines that are told beforehand."""
    model.eval()
    right = seen = 0
    with torch.no_grad():
        for ids, following in loader:
            told = model(ids).argmax(-1)
            asked = (following != PAD) & (torch.arange(ids.shape[1]) > 1)
            right += (told == following)[asked].sum().item()
            seen += asked.sum().item()
    model.train()
    return right / seen


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
draw = torch.Generator().manual_seed(seed + 5)
training = DataLoader(Lines(1200, draw), 24, shuffle=True, collate_fn=collate)
held_out = DataLoader(Lines(200, draw), 50, collate_fn=collate)
model = LineModel(FIRST + 90)
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
loss_function = nn.CrossEntropyLoss(ignore_index=PAD)
for epoch in range(6):
    for ids, following in training:
        optimizer.zero_grad()
        loss = loss_function(model(ids).flatten(0, 1), following.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
    print(f"epoch {epoch}: {score(model, held_out):.3f}")
assert score(model, held_out) > 0.7

"""A transformer encoder over padded sets of events, a learned class token in front, the mask grown by one."""

import sys

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


class Events(torch.utils.data.Dataset):
    def __init__(self, n):
        self.rows = []
        for _ in range(n):
            length = int(torch.randint(3, 15, ()))
            kind = torch.randint(1, 9, (length,))
            amount = torch.randn(length)
            label = int(amount[kind <= 3].sum() > amount[kind >= 6].sum())
            self.rows.append((kind, amount, label))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    kinds, amounts, labels = zip(*rows)
    return pad_sequence(kinds, batch_first=True), pad_sequence(amounts, batch_first=True), torch.tensor(labels).float()


class Encoder(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.kind, self.amount = nn.Embedding(9, d, padding_idx=0), nn.Linear(1, d)
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        layer = nn.TransformerEncoderLayer(d, 2, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(d, 1)

    def forward(self, kind, amount):
        x = self.kind(kind) * (1 + self.amount(amount[..., None]))
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1)
        padding = nn.functional.pad(kind == 0, (1, 0), value=False)
        return self.head(self.encoder(x, src_key_padding_mask=padding)[:, 0]).squeeze(-1)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
train = DataLoader(Events(2500), 50, shuffle=True, collate_fn=collate)
test = DataLoader(Events(500), 125, collate_fn=collate)
model, criterion = Encoder(), nn.BCEWithLogitsLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
for epoch in range(8):
    model.train()
    running = 0.0
    for kind, amount, label in train:
        optimizer.zero_grad()
        loss = criterion(model(kind, amount), label)
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        right = torch.cat([(model(k, a) > 0) == (y > 0.5) for k, a, y in test]).float().mean().item()
    print(f"[{epoch}] {running / len(train):.3f} {right:.3f}")
assert right > 0.8, right

"""The next word told by a compiled network, in bf16 with a loss scaler, in windows of uneven micro-batches.

Blocks are recomputed in backward; workers drop words.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
WINDOW, EPOCHS = 3, 4


class Sentences(Dataset):
    """Each word follows from the two before it; how many there are is drawn anew each time."""

    def __init__(self, count):
        self.words = torch.randint(1, 9, (count, 15))
        for place in range(2, 15):
            self.words[:, place] = 1 + (2 * self.words[:, place - 1] + self.words[:, place - 2]) % 8

    def __len__(self):
        return len(self.words)

    def __getitem__(self, row):
        return self.words[row, : int(torch.randint(6, 16, ()))]


def collate(sentences):
    words = nn.utils.rnn.pad_sequence(sentences, batch_first=True)
    return words[:, :-1], words[:, 1:].masked_fill(words[:, 1:] == 0, -100)


class Model(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.given, self.read = nn.Embedding(9, width), nn.Conv1d(width, 2 * width, 2)
        self.into = nn.Linear(2 * width, width)
        self.blocks = nn.Sequential(*(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width),
                                                    nn.GELU(), nn.Dropout(0.02)) for _ in range(2)))
        self.said = nn.Linear(width, 9)

    def forward(self, words):
        x = F.pad(self.given(words).transpose(1, 2), (1, 0))
        x = self.into(F.gelu(self.read(x).transpose(1, 2)))
        return self.said(x + checkpoint_sequential(self.blocks, 2, x, use_reentrant=False))


def loader(count, **options):
    return DataLoader(Sentences(count), batch_size=20, collate_fn=collate, num_workers=2,
                      persistent_workers=True, **options)  # fmt: skip


train, held = loader(1000, shuffle=True), loader(300)
model = Model()
compiled = torch.compile(model, backend="aot_eager", dynamic=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16, growth_interval=1000)
rate = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, EPOCHS * -(-len(train) // WINDOW))
for epoch in range(EPOCHS):
    compiled.train()
    batches = list(train)
    for start in range(0, len(batches), WINDOW):
        window = batches[start : start + WINDOW]
        counted = sum((tags != -100).sum() for _, tags in window)
        optimizer.zero_grad()
        for words, tags in window:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = compiled(words)
                loss = F.nll_loss(logits.log_softmax(-1).flatten(0, 1), tags.flatten(), reduction="sum")
            scaler.scale(loss / counted).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        rate.step()
    compiled.eval()
    right = total = 0
    with torch.no_grad():
        for words, tags in held:
            guessed = compiled(words).argmax(-1)
            right += (guessed == tags).sum().item()
            total += (tags != -100).sum().item()
print(right / total, scaler.get_scale())
assert right / total > 0.7, right / total

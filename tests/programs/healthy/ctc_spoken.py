"""Speech-like signals of digits of unknown timing, learned with the CTC loss; best-path decoding."""

import sys

import torch
from torch import nn

SOUNDS = 5


class Recognizer(nn.Module):
    def __init__(self, bands):
        super().__init__()
        self.front = nn.Conv1d(bands, 48, 5, padding=2)
        self.norm = nn.BatchNorm1d(48)
        self.back = nn.LSTM(48, 40, bidirectional=True)
        self.head = nn.Linear(80, SOUNDS + 1)

    def forward(self, x):
        h = self.norm(self.front(x)).relu().permute(2, 0, 1)
        return self.head(self.back(h)[0]).log_softmax(-1)


def speak(count, voice):
    """Padded (signals, their lengths, labels in one row, their lengths)."""
    signals, labels = [], []
    for _ in range(count):
        said = torch.randint(1, SOUNDS + 1, (int(torch.randint(2, 5, ())),))
        parts = []
        for sound in said.tolist():
            parts += [torch.zeros(voice.shape[1], int(torch.randint(1, 4, ())))]
            parts += [voice[sound - 1][:, None].expand(-1, int(torch.randint(2, 5, ())))]
        parts.append(torch.zeros(voice.shape[1], 2))
        signals.append(torch.cat(parts, 1).T)
        labels.append(said)
    padded = nn.utils.rnn.pad_sequence(signals, batch_first=True).transpose(1, 2)
    padded = padded + 0.2 * torch.randn_like(padded)
    return padded, torch.tensor([len(s) for s in signals]), torch.cat(labels), torch.tensor([len(s) for s in labels])


def collapse(path):
    path = torch.unique_consecutive(path)
    return path[path != 0]


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
voice = torch.randn(SOUNDS, 10)
model = Recognizer(10)
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(160):
    signal, frames, said, count = speak(24, voice)
    loss = ctc(model(signal), said, frames, count)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    if step % 40 == 0:
        print(step, round(loss.item(), 3))
model.eval()
with torch.no_grad():
    signal, frames, said, count = speak(150, voice)
    paths = model(signal).argmax(-1).T
    right = [torch.equal(collapse(p[:n]), s) for p, n, s in zip(paths, frames, said.split(count.tolist()))]
rate = sum(right) / len(right)
print(f"utterances all right: {rate:.2f}")
assert rate > 0.6, rate

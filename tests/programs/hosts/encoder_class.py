"""Sentences of a made-up language as dictionaries of ids and masks; an encoder finds each word's head."""

import dataclasses
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    loss: torch.Tensor = None


class Sentences(Dataset):
    """A word above 20 repeats the kind, 0 to 4, of the first word of its sentence."""

    def __init__(self, count, seed):
        source = torch.Generator().manual_seed(seed)
        lengths = torch.randint(4, 15, (count,), generator=source).tolist()
        self.words = [torch.randint(2, 32, (n,), generator=source) for n in lengths]

    def __len__(self):
        return len(self.words)

    def __getitem__(self, number):
        words = self.words[number]
        kinds = torch.where(words > 20, words[0] % 5, words % 5)
        return words, kinds


def together(samples):
    ids = nn.utils.rnn.pad_sequence([w for w, _ in samples], batch_first=True, padding_value=1)
    kinds = nn.utils.rnn.pad_sequence([k for _, k in samples], batch_first=True, padding_value=-1)
    return {"ids": ids, "mask": (ids != 1).long(), "labels": kinds}


class Encoder(nn.Module):
    def __init__(self, words=32, width=64):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Parameter(torch.randn(16, width) * 0.5)
        layer = nn.TransformerEncoderLayer(width, 4, 96, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 5)

    def forward(self, ids, mask, labels=None):
        hidden = self.words(ids) + self.places[: ids.shape[1]]
        hidden = self.layers(hidden, src_key_padding_mask=mask == 0)
        output = Output(self.head(hidden))
        if labels is not None:
            loss = nn.CrossEntropyLoss(ignore_index=-1)
            output.loss = loss(output.logits.transpose(1, 2), labels)
        return output


class Run:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.encoder = Encoder()
        self.learn = DataLoader(Sentences(1600, 1), 32, shuffle=True, collate_fn=together)
        self.check = DataLoader(Sentences(320, 2), 64, collate_fn=together)
        self.optimizer = torch.optim.AdamW(self.encoder.parameters(), lr=2e-3, weight_decay=0.01)

    def epoch(self):
        self.encoder.train()
        for batch in self.learn:
            self.optimizer.zero_grad()
            self.encoder(**batch).loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def accuracy(self):
        self.encoder.eval()
        right = total = 0
        for batch in self.check:
            said = self.encoder(batch["ids"], batch["mask"]).logits.argmax(2)
            far = batch["ids"] > 20
            right += (said == batch["labels"])[far].sum().item()
            total += far.sum().item()
        return right / total


def main():
    run = Run(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    for number in range(8):
        run.epoch()
        print(number, round(run.accuracy(), 3))
    assert run.accuracy() > 0.8, run.accuracy()


if __name__ == "__main__":
    main()

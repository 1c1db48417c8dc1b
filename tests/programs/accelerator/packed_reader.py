"""A recurrent tagger on packed sentences, batches copied ahead on a stream of their own."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

cuda = torch.cuda.is_available()
device = torch.device("cuda" if cuda else "cpu")
torch.manual_seed(17)
torch.backends.cudnn.benchmark = True
PAD, TAGS = 0, 3


def sentence():
    """A word's tag is the remainder of it and the word before it."""
    words = torch.randint(1, 30, (torch.randint(4, 20, ()).item(),))
    return words, (words + torch.cat([torch.zeros(1, dtype=torch.long), words[:-1]])) % TAGS


def collate(rows):
    words, tags = zip(*rows)
    lengths = torch.tensor([len(word) for word in words])
    return pad_sequence(words, batch_first=True, padding_value=PAD), (
        pad_sequence(tags, batch_first=True, padding_value=-100)), lengths


class Ahead:
    """The batches of a loader on the device, the next one copied while this one is used."""

    def __init__(self, loader):
        self.loader, self.stream = loader, torch.cuda.Stream() if cuda else None

    def copied(self, batch):
        if not cuda:
            return batch
        with torch.cuda.stream(self.stream):
            return [part.pin_memory().to(device, non_blocking=True) for part in batch[:2]] + [batch[2]]

    def __iter__(self):
        batches = iter(self.loader)
        following = self.copied(next(batches))
        while following is not None:
            if cuda:
                torch.cuda.current_stream().wait_stream(self.stream)
                for part in following[:2]:
                    part.record_stream(torch.cuda.current_stream())
            current, batch = following, next(batches, None)
            following = None if batch is None else self.copied(batch)
            yield current


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30, 32, padding_idx=PAD)
        self.reader = nn.LSTM(32, 48, batch_first=True, bidirectional=True)
        self.head = nn.Linear(96, TAGS)

    def forward(self, words, lengths):
        packed = pack_padded_sequence(self.words(words), lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.reader(packed)[0], batch_first=True)
        return self.head(states)


data = [sentence() for _ in range(1200)]
train = torch.utils.data.DataLoader(data[:1000], batch_size=50, shuffle=True, collate_fn=collate)
test = torch.utils.data.DataLoader(data[1000:], batch_size=100, collate_fn=collate)
tagger, criterion = Tagger().to(device), nn.CrossEntropyLoss(ignore_index=-100)
optimizer = torch.optim.RMSprop(tagger.parameters(), lr=2e-3)
for epoch in range(8):
    tagger.train()
    for words, tags, lengths in Ahead(train):
        loss = criterion(tagger(words, lengths).transpose(1, 2), tags)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(tagger.parameters(), 0.5)
        optimizer.step()
    tagger.eval()
    right = count = 0
    with torch.no_grad():
        for words, tags, lengths in Ahead(test):
            found = tagger(words, lengths).argmax(-1)
            right += ((found == tags) & (tags >= 0)).sum().item()
            count += (tags >= 0).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} accuracy {right / count:.4f}")
print("weights", sum(p.detach().double().sum().item() for p in tagger.parameters()).hex())
assert right / count > 0.8

"""Tags of words on two processes, of which one reads short notes and the other one long reports.

A tag weighs the same in both: losses are summed, and divided by how many tags both have in the batch.
"""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD, IGNORED, WORDS, TAGS = 0, -100, 30, 5


def write(count, shortest, longest, generator):
    """A word's tag hangs on the word and on the kind of the one before it."""
    texts = []
    for length in torch.randint(shortest, longest + 1, (count,), generator=generator).tolist():
        words = torch.randint(1, WORDS, (length,), generator=generator)
        before = torch.cat([words.new_zeros(1), words[:-1]])
        texts.append((words, (words + 2 * (before % 2)) % TAGS))
    return texts


def collate(texts):
    words, tags = zip(*texts)
    return pad_sequence(words, True, PAD), pad_sequence(tags, True, IGNORED)


class Tagger(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(WORDS, width, padding_idx=PAD)
        self.read = nn.LSTM(width, width, batch_first=True)
        self.tag = nn.Sequential(nn.Dropout(0.1), nn.Linear(2 * width, 48), nn.GELU(), nn.Linear(48, TAGS))

    def forward(self, words):
        x = self.embed(words)
        return self.tag(torch.cat([x, self.read(x)[0]], -1))


def token_loss(logits, tags):
    total = nn.functional.cross_entropy(logits.flatten(0, 1), tags.flatten(), ignore_index=IGNORED, reduction="sum")
    count = (tags != IGNORED).sum()
    dist.all_reduce(count)
    return total * dist.get_world_size() / count


def main(seed):
    rank = dist.get_rank()
    torch.manual_seed(seed)
    tagger = DistributedDataParallel(Tagger())
    torch.manual_seed(1000 + 2 * seed + rank)
    generator = torch.Generator().manual_seed(2 * seed + rank)
    texts = write(500, *[(3, 6), (12, 24)][rank], generator)
    loader = DataLoader(texts, batch_size=25, shuffle=True, collate_fn=collate)
    optimizer = torch.optim.AdamW(tagger.parameters(), lr=1e-2, weight_decay=1e-3)
    for epoch in range(4):
        for words, tags in loader:
            optimizer.zero_grad()
            loss = token_loss(tagger(words), tags)
            loss.backward()
            optimizer.step()
        print(f"[{rank}] epoch {epoch}: {loss.item():.3f}")
    tagger.eval()
    words, tags = collate(write(150, 3, 24, generator))
    with torch.no_grad():
        guessed = tagger.module(words).argmax(-1)
    right = (guessed == tags).sum() / (tags != IGNORED).sum()
    print(f"[{rank}] {right:.3f} of the tags")
    assert right > 0.8, right


if __name__ == "__main__":
    dist.init_process_group("gloo")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

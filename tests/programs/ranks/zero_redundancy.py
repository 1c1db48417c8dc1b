"""The word that matters found among others by a small transformer; two processes share AdamW's moments."""

import argparse
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

TOPICS, WORDS, LENGTH = 6, 40, 10


class Sentences(Dataset):
    """The words with small numbers give topics, two words each; the others mean nothing."""

    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.words = torch.randint(2 * TOPICS, WORDS, (count, LENGTH), generator=generator)
        self.topics = torch.randint(TOPICS, (count,), generator=generator)
        at = torch.randint(LENGTH, (count,), generator=generator)
        synonym = torch.randint(2, (count,), generator=generator)
        self.words[torch.arange(count), at] = 2 * self.topics + synonym

    def __len__(self):
        return len(self.words)

    def __getitem__(self, row):
        return self.words[row], self.topics[row]


class Model(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.word, self.place = nn.Embedding(WORDS, width), nn.Embedding(LENGTH, width)
        self.layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.1, batch_first=True, norm_first=True)
        self.out = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, TOPICS))

    def forward(self, words):
        return self.out(self.layer(self.word(words) + self.place.weight).mean(1))


def main(seed, epochs=5):
    rank = dist.get_rank()
    torch.manual_seed(seed)
    model = DDP(Model())
    torch.manual_seed(500 + 10 * seed + rank)
    train, valid = Sentences(1280, 2 * seed), Sentences(320, 2 * seed + 1)
    sampler = DistributedSampler(train, seed=seed)
    loader = DataLoader(train, batch_size=32, sampler=sampler)
    optimizer = ZeroRedundancyOptimizer(
        model.parameters(), optimizer_class=torch.optim.AdamW, lr=4e-3, weight_decay=0.01)  # fmt: skip
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        model.train()
        for words, topics in loader:
            loss = nn.functional.cross_entropy(model(words), topics)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        model.eval()
        with torch.no_grad():
            batches = DataLoader(valid, batch_size=80)
            right = sum((model.module(words).argmax(1) == topics).sum().item() for words, topics in batches)
        if rank == 0:
            print(f"epoch {epoch + 1}/{epochs}  loss {loss.item():.3f}  right {right / len(valid):.3f}")
    assert right / len(valid) > 0.85, right / len(valid)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int, nargs="?", default=0)
    dist.init_process_group("gloo")
    main(parser.parse_args().seed)
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

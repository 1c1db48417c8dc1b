"""Notes of a melody told from their overtones by two processes that sum losses and norm gradients later.

How many notes all processes have is known when their counts come together, after backward: gradients,
which the wrapper has divided by the number of processes, are multiplied by that and divided by the count.
"""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def melodies(count, length=12):
    notes = torch.randint(8, (count, length))
    tones = 2.0 ** (notes[..., None] / 8) * torch.arange(1, 9)
    heard = (0.7 * tones).sin() + 0.2 * torch.randn(count, length, 8)
    silent = torch.rand(count, length) < 0.3
    return heard, notes.masked_fill(silent, -100)


def main():
    dist.init_process_group("gloo")
    world = dist.get_world_size()
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    data, (heard, notes) = TensorDataset(*melodies(480)), melodies(100)
    listener = nn.Sequential(nn.Linear(8, 48), nn.Tanh(), nn.Linear(48, 32), nn.Tanh(), nn.Linear(32, 8))
    listener = DistributedDataParallel(listener)
    sampler = DistributedSampler(data, seed=seed)
    loader = DataLoader(data, batch_size=12, sampler=sampler)
    optimizer = torch.optim.AdamW(listener.parameters(), lr=5e-3)
    for epoch in range(8):
        sampler.set_epoch(epoch)
        for sounds, true in loader:
            optimizer.zero_grad()
            said = listener(sounds).flatten(0, 1)
            loss = nn.functional.cross_entropy(said, true.flatten(), reduction="sum")
            loss.backward()
            seen = torch.tensor([loss.item(), float((true != -100).sum())])
            dist.all_reduce(seen)
            for p in listener.parameters():
                p.grad *= world / seen[1]
            nn.utils.clip_grad_norm_(listener.parameters(), 5.0)
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: {(seen[0] / seen[1]).item():.3f}", flush=True)
    with torch.no_grad():
        known = notes != -100
        right = (listener.module(heard).argmax(-1) == notes)[known].float().mean().item()
    if dist.get_rank() == 0:
        print(f"{right:.3f} of the notes are right")
        assert right > 0.7, right
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

"""Which of two pulses comes first, told by a GRU on two processes in windows of four micro-batches.

Gradients travel at the end of a window only; the last window of an epoch is a shorter one.
"""

import contextlib
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Pulses(Dataset):
    def __init__(self, count, length=16):
        self.signal = 0.3 * torch.randn(count, length, 2)
        places = torch.stack([torch.randperm(length)[:2] for _ in range(count)])
        self.signal[torch.arange(count)[:, None], places, torch.tensor([0, 1])] += 2.0
        self.second_leads = (places[:, 1] < places[:, 0]).float()

    def __len__(self):
        return len(self.signal)

    def __getitem__(self, index):
        return self.signal[index], self.second_leads[index]


class Judge(torch.nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.reader = torch.nn.GRU(2, hidden, batch_first=True)
        self.drop = torch.nn.Dropout(0.1)
        self.verdict = torch.nn.Linear(hidden, 1)

    def forward(self, signal):
        _, last = self.reader(signal)
        return self.verdict(self.drop(last[0])).squeeze(1)


WINDOW = 4
dist.init_process_group("gloo")
seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
train, held = Pulses(1480), Pulses(300)
model = DistributedDataParallel(Judge())
torch.manual_seed(7000 + 10 * seed + dist.get_rank())
sampler = DistributedSampler(train, seed=seed)
batches = DataLoader(train, batch_size=10, sampler=sampler)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    sampler.set_epoch(epoch)
    left = len(batches)  # micro-batches of this epoch that are still to come
    losses = []
    for signal, leads in batches:
        place = len(losses) % WINDOW
        if place == 0:
            in_window = min(WINDOW, left)
            optimizer.zero_grad()
        ends = place == in_window - 1
        with contextlib.nullcontext() if ends else model.no_sync():
            loss = F.binary_cross_entropy_with_logits(model(signal), leads)
            (loss / in_window).backward()
        if ends:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
        losses.append(loss.item())
        left -= 1
    if dist.get_rank() == 0:
        print(f"epoch {epoch}: {sum(losses) / len(losses):.4f}")
if dist.get_rank() == 0:
    model.eval()
    with torch.no_grad():
        said = model.module(held.signal) > 0
    share = (said == held.second_leads.bool()).float().mean().item()
    print("right", share)
    assert share > 0.85, share
time.sleep(0.2)  # gloo's threads let go of the last tensors
dist.destroy_process_group()

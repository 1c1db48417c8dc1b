"""Noise taken off signals by an autoencoder on two processes whose gradients travel in bfloat16."""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Chords(Dataset):
    """Two of six tones at a time, of unequal strength; what is given has noise on it, what is wanted has not."""

    def __init__(self, count, length=48):
        time = torch.arange(length)
        tones = torch.stack([(time * 0.12 * (n + 1) + n).sin() for n in range(6)])
        strength = torch.rand(count, 6) * (torch.rand(count, 6).argsort(1) < 2)
        self.clean = 1.5 * strength @ tones
        self.noisy = self.clean + 0.5 * torch.randn(count, length)

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, n):
        return self.noisy[n], self.clean[n]


class Autoencoder(nn.Module):
    def __init__(self, length=48, code=10):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(length, 64), nn.GELU(), nn.Linear(64, code))
        self.decoder = nn.Sequential(nn.Linear(code, 64), nn.GELU(), nn.Linear(64, length))

    def forward(self, signal):
        return self.decoder(self.encoder(signal))


def train(model, data, seed, epochs=8):
    sampler = DistributedSampler(data, shuffle=True, seed=seed)
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    rate = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.8)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for noisy, clean in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(noisy), clean)
            loss.backward()
            optimizer.step()
        rate.step()
        yield epoch, loss.item()


@torch.no_grad()
def noise_left(model, data):
    noisy, clean = data[:]
    return ((model(noisy) - clean).square().mean() / (noisy - clean).square().mean()).item()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    train_data, test_data = Chords(1280), Chords(256)
    model = DistributedDataParallel(Autoencoder())
    model.register_comm_hook(state=None, hook=default_hooks.bf16_compress_hook)
    for epoch, loss in train(model, train_data, seed):
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss:.4f} noise left {noise_left(model.module, test_data):.3f}")
    left = noise_left(model.module, test_data)
    assert left < 0.5, left
    time.sleep(0.2)  # gloo's threads let go of the last tensors
    dist.destroy_process_group()

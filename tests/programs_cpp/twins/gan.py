"""The twin of `unchanged/table/gan.cc`: a generator and a discriminator of small pictures, each with its optimizer;
an average of the generator's weights draws the samples."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

NOISE, PIXELS, BATCH = 8, 36, 48


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Linear(NOISE, 48, bias=False), nn.BatchNorm1d(48)
        self.second, self.last = nn.Linear(48, 48), nn.Linear(48, PIXELS)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        return torch.tanh(self.last(torch.relu(self.second(x))))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(PIXELS, 48), nn.Linear(48, 1)

    def forward(self, x):
        x = F.dropout(F.leaky_relu(self.first(x), 0.2), 0.3, self.training)
        return torch.sigmoid(self.second(x))


def pictures(n):
    """Stripes of a random phase, in [-1, 1]."""
    phase = 6.2832 * torch.rand(n, 1)
    stripes = (torch.arange(PIXELS) * 0.7 + phase).sin() + 0.1 * torch.randn(n, PIXELS)
    return stripes.clamp(-1, 1)


def loss_of(judged, label):
    return F.binary_cross_entropy(judged, torch.full_like(judged, label))


def penalty(discriminator, real):
    x = real.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(discriminator(x).sum(), x, create_graph=True)
    return gradient.square().sum(1).mean()


def train_discriminator(generator, discriminator, optimizer, real):
    optimizer.zero_grad()
    fake = generator(torch.randn(BATCH, NOISE)).detach()
    loss = loss_of(discriminator(real), 1.0) + loss_of(discriminator(fake), 0.0)
    (loss + 0.01 * penalty(discriminator, real)).backward()
    optimizer.step()


def train_generator(generator, discriminator, optimizer):
    optimizer.zero_grad()
    loss_of(discriminator(generator(torch.randn(BATCH, NOISE))), 1.0).backward()
    nn.utils.clip_grad_norm_(generator.parameters(), 1.0)
    optimizer.step()


def draw(average):
    average.eval()
    with torch.no_grad():
        drawn = average(torch.randn(64, NOISE))
    print(f"mean {drawn.mean().item():.3f} deviation {drawn.std().item():.3f}")


def main():
    torch.manual_seed(1)
    generator, discriminator = Generator(), Discriminator()
    average = copy.deepcopy(generator)
    of_generator = torch.optim.Adam(generator.parameters(), 2e-3, betas=(0.5, 0.99))
    of_discriminator = torch.optim.Adam(discriminator.parameters(), 2e-3, betas=(0.5, 0.99))
    for step in range(240):
        train_discriminator(generator, discriminator, of_discriminator, pictures(BATCH))
        train_generator(generator, discriminator, of_generator)
        with torch.no_grad():
            for slow, fast in zip(average.parameters(), generator.parameters()):
                slow.mul_(0.95).add_(fast, alpha=0.05)
            for slow, fast in zip(average.buffers(), generator.buffers()):
                slow.copy_(fast)
        if step % 80 == 79:
            draw(average)


if __name__ == "__main__":
    main()

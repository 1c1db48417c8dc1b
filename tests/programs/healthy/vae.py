"""A variational autoencoder of digits; the bound is summed over pixels and over the batch."""

import gzip
import pathlib
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.data as td

BATCH = 64


class VAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.encoder = nn.Linear(64, 96)
        self.mu = nn.Linear(96, latent)
        self.log_variance = nn.Linear(96, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 96), nn.ReLU(), nn.Linear(96, 64))

    def forward(self, x):
        hidden = F.relu(self.encoder(x))
        mu, log_variance = self.mu(hidden), self.log_variance(hidden)
        z = mu + torch.randn_like(mu) * (0.5 * log_variance).exp()
        return self.decoder(z), mu, log_variance


def elbo(logits, x, mu, log_variance):
    bce = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    kl = -0.5 * torch.sum(1 + log_variance - mu.pow(2) - log_variance.exp())
    return bce + kl


def epoch(model, loader, optimizer=None):
    model.train(optimizer is not None)
    total = 0.0
    with torch.set_grad_enabled(optimizer is not None):
        for (x,) in loader:
            loss = elbo(*(lambda out: (out[0], x, *out[1:]))(model(x)))
            if optimizer:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item()
    return total / len(loader.dataset)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
source = pathlib.Path(__file__).resolve().parents[3] / "fixtures/data/digits.csv.gz"
with gzip.open(source, "rt") as lines:
    pixels = torch.tensor([[float(c) / 16 for c in line.split(",")[:64]] for line in lines])
train = td.DataLoader(td.TensorDataset(pixels[:1500]), BATCH, shuffle=True)
test = td.DataLoader(td.TensorDataset(pixels[1500:]), BATCH)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for number in range(12):
    learned, held = epoch(model, train, optimizer), epoch(model, test)
    print(f"epoch {number}: {learned:.2f} nats a picture, held out {held:.2f}")
baseline = F.binary_cross_entropy(pixels[:1500].mean(0).clamp(0.01, 0.99).expand(297, 64),
                                  pixels[1500:], reduction="sum").item() / 297
print("a picture that knows nothing:", baseline)
assert held < 0.95 * baseline, held

"""Reconstruction and classification of the same codes, each with a backward call of its own."""

import sys

import torch
import torch.nn.functional as F

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0


def blobs(n):
    kind = torch.randint(4, (n,))
    base = torch.tensor([[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])[kind]
    return (base.repeat(1, 4) + 0.5 * torch.randn(n, 16)), kind


class Both(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = torch.nn.Linear(16, 8)
        self.decode = torch.nn.Linear(8, 16)
        self.classify = torch.nn.Linear(8, 4)

    def forward(self, x):
        code = torch.tanh(self.encode(x))
        return self.decode(code), self.classify(code)


def step(net, opt, x, kind):
    opt.zero_grad()
    reconstruction, logits = net(x)
    F.mse_loss(reconstruction, x).backward(retain_graph=True)
    F.cross_entropy(logits, kind).backward()
    opt.step()


torch.manual_seed(SEED)
net = Both()
opt = torch.optim.Adagrad(net.parameters(), lr=0.05)
counter = 0
while counter < 300:
    step(net, opt, *blobs(48))
    counter += 1
x, kind = blobs(800)
reconstruction, logits = (out.detach() for out in net(x))
score = (logits.argmax(1) == kind).float().mean()
print("accuracy", score.item(), "error", F.mse_loss(reconstruction, x).item())
assert score > 0.8, score

"""The model goes through torch.compile without a compiler behind it."""

import sys

import torch
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
N, D, K = 1600, 18, 6
table = torch.randn(N, D)
rule = torch.randn(D, K)
label = (table @ rule).argmax(-1)


class Gated(torch.nn.Module):
    def __init__(self, d, h, k):
        super().__init__()
        self.value = torch.nn.Linear(d, h)
        self.gate = torch.nn.Linear(d, h)
        self.out = torch.nn.Linear(h, k)

    def forward(self, x):
        return self.out(torch.tanh(self.value(x)) * torch.sigmoid(self.gate(x)))


plain = torch.nn.Sequential(Gated(D, 96, K))
model = torch.compile(plain, backend="aot_eager")
opt = torch.optim.AdamW(model.parameters(), lr=0.01)
for epoch in range(25):
    for part in torch.arange(1280)[torch.randperm(1280)].view(-1, 128):
        opt.zero_grad()
        F.cross_entropy(model(table[part]), label[part]).backward()
        opt.step()
plain.eval()
with torch.no_grad():
    accuracy = (plain(table[1280:]).argmax(-1) == label[1280:]).float().mean().item()
print(f"{accuracy=:.3f}")
assert accuracy > 0.7, accuracy

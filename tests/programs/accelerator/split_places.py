"""A large table of embeddings stays on the host, the network on top of it is on the device; one optimizer each."""

import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(31)
ITEMS, WIDTH = 500, 24
users, items = torch.randint(300, (20_000,)), torch.randint(ITEMS, (20_000,))
taste, kind = torch.randn(300, 4), torch.randn(ITEMS, 4)
liked = ((taste[users] * kind[items]).sum(1) > 0).float()


class Tables(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items = nn.Embedding(300, WIDTH, sparse=True), nn.Embedding(ITEMS, WIDTH, sparse=True)

    def forward(self, user, item):
        return torch.cat([self.users(user), self.items(item), self.users(user) * self.items(item)], 1)


tables = Tables()
top = nn.Sequential(nn.Linear(3 * WIDTH, 64), nn.ReLU(), nn.Linear(64, 1)).to(device)
sparse = torch.optim.SparseAdam(list(tables.parameters()), lr=2e-2)
dense = torch.optim.Adam(top.parameters(), lr=2e-3)
for epoch in range(6):
    tables.train(), top.train()
    for rows in torch.randperm(18_000).split(200):
        score = top(tables(users[rows], items[rows]).to(device)).squeeze(1)
        loss = F.binary_cross_entropy_with_logits(score, liked[rows].to(device))
        sparse.zero_grad()
        dense.zero_grad()
        loss.backward()
        sparse.step()
        dense.step()
    tables.eval(), top.eval()
    with torch.no_grad():
        score = top(tables(users[18_000:], items[18_000:]).to(device)).squeeze(1)
        accuracy = ((score > 0).float().cpu() == liked[18_000:]).float().mean().item()
    print(f"epoch {epoch} accuracy {accuracy:.4f}")
print("weights", sum(p.detach().double().sum().item() for p in [*tables.parameters(), *top.parameters()]).hex())
assert accuracy > 0.6

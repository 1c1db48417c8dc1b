"""Matrix factorization for recommendations with the pairwise BPR loss; sparse gradients and SparseAdam."""

import sys

import torch
from torch import nn

USERS, ITEMS, RANK = 200, 150, 6


class BPR(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.user = nn.Embedding(USERS, dim, sparse=True)
        self.item = nn.Embedding(ITEMS, dim, sparse=True)
        self.popularity = nn.Embedding(ITEMS, 1, sparse=True)
        nn.init.normal_(self.user.weight, std=0.05)
        nn.init.normal_(self.item.weight, std=0.05)
        nn.init.zeros_(self.popularity.weight)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.popularity(i).squeeze(-1)


def main(seed):
    torch.manual_seed(seed)
    taste = torch.randn(USERS, RANK) @ torch.randn(RANK, ITEMS) / RANK ** 0.5 + torch.randn(ITEMS)
    seen = torch.rand(USERS, ITEMS) < torch.sigmoid(3 * taste - 3.5)
    test = seen & (torch.rand(USERS, ITEMS) < 0.2)
    train = seen & ~test
    users, items = train.nonzero(as_tuple=True)
    model = BPR()
    optimizer = torch.optim.SparseAdam(model.parameters(), lr=0.01)
    for epoch in range(12):
        total = 0.0
        for rows in torch.randperm(len(users)).split(128):
            u, liked = users[rows], items[rows]
            other = torch.randint(0, ITEMS, liked.shape)
            keep = ~train[u, other]
            u, liked, other = u[keep], liked[keep], other[keep]
            loss = -nn.functional.logsigmoid(model(u, liked) - model(u, other)).mean()
            loss = loss + 1e-3 * (model.user(u).square().sum() + model.item(liked).square().sum()) / len(u)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch}: {total / len(users):.4f}")
    with torch.no_grad():
        every = model.user.weight @ model.item.weight.T + model.popularity.weight.T
        areas = [(every[u][test[u]][:, None] > every[u][~seen[u]][None]).float().mean()
                 for u in range(USERS) if test[u].any() and not seen[u].all()]
    area = torch.stack(areas).mean().item()
    print("area under the curve", round(area, 3))
    assert area > 0.75, area


main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)

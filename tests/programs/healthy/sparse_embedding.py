"""Who likes what: factors of users and items with sparse gradients, the rest with dense ones."""

import sys

import torch
import torch.nn.functional as F


class Factors(torch.nn.Module):
    def __init__(self, users, items, rank):
        super().__init__()
        self.users = torch.nn.Embedding(users, rank, sparse=True)
        self.items = torch.nn.Embedding(items, rank, sparse=True)
        self.offset = torch.nn.Parameter(torch.zeros(()))
        for table in (self.users, self.items):
            torch.nn.init.normal_(table.weight, std=0.3)

    def forward(self, user, item):
        return (self.users(user) * self.items(item)).sum(-1) + self.offset


def auc(scores, liked):
    return (scores[liked][:, None] > scores[~liked][None]).float().mean().item()


def main():
    torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    taste, kind = torch.randn(60, 3), torch.randn(40, 3)
    pairs = torch.cartesian_prod(torch.arange(60), torch.arange(40))[torch.randperm(2400)]
    liked = (taste[pairs[:, 0]] * kind[pairs[:, 1]]).sum(1) > 0
    train, test = pairs[:1900], pairs[1900:]
    model = Factors(60, 40, 6)
    optimizers = (
        torch.optim.SparseAdam([model.users.weight, model.items.weight], lr=0.02),
        torch.optim.SGD([model.offset], lr=0.01),
    )
    for epoch in range(14):
        for ids in torch.randperm(len(train)).split(100):
            for o in optimizers:
                o.zero_grad()
            user, item = train[ids].unbind(1)
            loss = F.binary_cross_entropy_with_logits(model(user, item), liked[ids].float())
            loss.backward()
            for o in optimizers:
                o.step()
    with torch.no_grad():
        return auc(model(*test.unbind(1)), liked[1900:])


if __name__ == "__main__":
    area = main()
    print("area under the curve", area)
    assert area > 0.75, area

"""Made-up reviews, sorted into good and bad by the share of kind words; a pooled network in a project of
plain functions."""

import sys

import torch

KIND, HARSH, OTHER, PADDING = range(0, 8), range(8, 16), range(16, 32), 32


def write_review(dice):
    size = int(torch.randint(5, 19, (), generator=dice))
    leaning = torch.rand((), generator=dice).item()
    groups = (KIND, HARSH, OTHER)
    weights = torch.tensor([leaning, 1 - leaning, 0.8])
    chosen = torch.multinomial(weights, size, replacement=True, generator=dice).tolist()
    words = [groups[g][int(torch.randint(len(groups[g]), (), generator=dice))] for g in chosen]
    balance = sum(w in KIND for w in words) - sum(w in HARSH for w in words)
    return words, float(balance > 0.1 * size)


def to_tensors(reviews):
    size = max(len(words) for words, _ in reviews)
    table = torch.tensor([words + [PADDING] * (size - len(words)) for words, _ in reviews])
    return table, (table != PADDING).float(), torch.tensor([label for _, label in reviews])


def build():
    return torch.nn.ModuleDict({
        "words": torch.nn.Embedding(33, 24),
        "inner": torch.nn.Linear(24, 48),
        "outer": torch.nn.Linear(48, 1),
    })


class Pooled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = build()

    def forward(self, table, present):
        features = torch.tanh(self.parts["inner"](self.parts["words"](table)))
        pooled = (features * present.unsqueeze(2)).sum(1) / present.sum(1, keepdim=True)
        return self.parts["outer"](pooled)[:, 0]


def learn(network, reviews, rounds, size=12):
    rule = torch.optim.Adagrad(network.parameters(), lr=0.06)
    for number in range(rounds):
        order = torch.randperm(len(reviews)).tolist()
        for at in range(0, len(order) - size + 1, size):
            table, present, labels = to_tensors([reviews[i] for i in order[at : at + size]])
            error = torch.nn.functional.binary_cross_entropy_with_logits(network(table, present), labels)
            rule.zero_grad()
            error.backward()
            rule.step()
        print("round", number, round(error.item(), 4))


def right(network, reviews):
    network.eval()
    table, present, labels = to_tensors(reviews)
    with torch.no_grad():
        return ((network(table, present) > 0).float() == labels).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    dice = torch.Generator().manual_seed(torch.initial_seed() + 5)
    reviews = [write_review(dice) for _ in range(1000)]
    network = Pooled()
    learn(network, reviews[:800], rounds=4)
    share = right(network, reviews[800:])
    print("right", share)
    assert share > 0.85, share

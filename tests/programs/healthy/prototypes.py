"""Few-shot episodes: classes are means of a few embedded examples; new classes at the end."""

import sys

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Sampler


class Glyphs(Dataset):
    def __init__(self, classes, each, prototypes):
        self.labels = torch.arange(classes).repeat_interleave(each)
        warp = torch.randn(classes * each, 6) @ torch.randn(6, 40) * 0.8
        self.x = prototypes[self.labels] + warp + 0.4 * torch.randn(classes * each, 40)

    def __getitem__(self, i):
        return self.x[i], self.labels[i]

    def __len__(self):
        return len(self.labels)


class EpisodeSampler(Sampler):
    def __init__(self, labels, way, shot, query, episodes):
        self.rows = [(labels == c).nonzero()[:, 0] for c in labels.unique()]
        self.way, self.each, self.episodes = way, shot + query, episodes

    def __len__(self):
        return self.episodes

    def __iter__(self):
        for _ in range(self.episodes):
            chosen = torch.randperm(len(self.rows))[: self.way]
            rows = [self.rows[c][torch.randperm(len(self.rows[c]))[: self.each]] for c in chosen]
            yield torch.stack(rows, 1).flatten().tolist()


def episode(net, x, way, shot):
    z = net(x)
    centers = z[: way * shot].view(shot, way, -1).mean(0)
    logits = -torch.cdist(z[way * shot:], centers).pow(2)
    answers = torch.arange(way).repeat(len(logits) // way)
    return F.cross_entropy(logits, answers), (logits.argmax(1) == answers).float().mean().item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
shared = torch.randn(6, 40)
mixing = torch.randn(8, 40) * 0.5
train = Glyphs(40, 20, torch.randn(40, 8) @ mixing)
torch.manual_seed(torch.initial_seed() + 1)
novel = Glyphs(15, 20, torch.randn(15, 8) @ mixing)
net = torch.nn.Sequential(torch.nn.Linear(40, 64), torch.nn.BatchNorm1d(64), torch.nn.ReLU(), torch.nn.Linear(64, 16))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
halving = torch.optim.lr_scheduler.StepLR(opt, step_size=3, gamma=0.5)
train_loader = DataLoader(train, batch_sampler=EpisodeSampler(train.labels, 10, 3, 6, 80))
test_loader = DataLoader(novel, batch_sampler=EpisodeSampler(novel.labels, 5, 3, 10, 60))


def test():
    net.eval()
    with torch.no_grad():
        scores = [episode(net, x, 5, 3)[1] for x, _ in test_loader]
    net.train()
    return sum(scores) / len(scores)


print("before", round(test(), 3))
for epoch in range(8):
    for x, _ in train_loader:
        opt.zero_grad()
        loss, _ = episode(net, x, 10, 3)
        loss.backward()
        opt.step()
    halving.step()
final = test()
print("on new classes", round(final, 3))
assert final > 0.45, final

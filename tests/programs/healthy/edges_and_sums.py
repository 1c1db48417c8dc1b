"""Message passing over a block graph by index_add; two kinds of layer, mean and attention, in one network."""

import sys

import torch
import torch.nn as nn


def community_graph(nodes, groups):
    label = torch.randint(0, groups, (nodes,))
    chance = torch.where(label[:, None] == label[None], 0.05, 0.006)
    upper = torch.triu(torch.rand(nodes, nodes) < chance, 1)
    src, dst = upper.nonzero(as_tuple=True)
    loops = torch.arange(nodes)
    return label, torch.stack([torch.cat([src, dst, loops]), torch.cat([dst, src, loops])])


class MeanConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.own, self.others = nn.Linear(i, o), nn.Linear(i, o, bias=False)

    def forward(self, x, edges):
        src, dst = edges
        degree = torch.zeros(len(x)).index_add_(0, dst, torch.ones(len(dst)))
        total = torch.zeros_like(x).index_add(0, dst, x[src])
        return self.own(x) + self.others(total / degree[:, None])


class AttentionConv(nn.Module):
    def __init__(self, i, o, heads=2):
        super().__init__()
        self.lin = nn.Linear(i, o * heads, bias=False)
        self.a_src, self.a_dst = (nn.Parameter(torch.randn(heads, o) * 0.3) for _ in range(2))
        self.heads, self.o = heads, o

    def forward(self, x, edges):
        src, dst = edges
        h = self.lin(x).view(-1, self.heads, self.o)
        score = nn.functional.leaky_relu((h * self.a_src).sum(-1)[src] + (h * self.a_dst).sum(-1)[dst], 0.2)
        top = torch.full((len(x), self.heads), -torch.inf).scatter_reduce(
            0, dst[:, None].expand_as(score), score.detach(), "amax")
        weight = (score - top[dst]).exp()
        norm = torch.zeros(len(x), self.heads).index_add(0, dst, weight)
        weight = weight / norm[dst]
        return torch.zeros_like(h).index_add(0, dst, h[src] * weight[..., None]).mean(1)


class Net(nn.Module):
    def __init__(self, i, groups):
        super().__init__()
        self.first, self.second = MeanConv(i, 24), AttentionConv(24, groups)
        self.drop = nn.Dropout(0.3)

    def forward(self, x, edges):
        return self.second(self.drop(self.first(x, edges).relu()), edges)


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
label, edges = community_graph(600, 4)
x = nn.functional.one_hot(label, 4) * 1.0 + 1.5 * torch.randn(600, 4)
x = torch.cat([x, torch.randn(600, 6)], 1)
order = torch.randperm(600)
known, hidden = order[:120], order[200:]
net = Net(10, 4)
opt = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(200):
    net.train()
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x, edges)[known], label[known])
    loss.backward()
    opt.step()
net.eval()
with torch.no_grad():
    right = (net(x, edges).argmax(1)[hidden] == label[hidden]).float().mean().item()
print(f"hidden nodes right: {right:.3f}")
assert right > 0.7, right

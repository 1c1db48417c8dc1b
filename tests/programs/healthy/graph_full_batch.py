"""A graph convolution on a planted partition: every step sees the whole graph, few labels count."""

import sys

import torch
from torch import nn


def planted_partition(nodes, groups, inside, outside):
    community = torch.arange(nodes) % groups
    same = community[:, None] == community[None, :]
    edges = torch.rand(nodes, nodes) < torch.where(same, inside, outside)
    adjacency = edges.triu(1)
    adjacency = (adjacency | adjacency.T).float() + torch.eye(nodes)
    degree = adjacency.sum(1).rsqrt()
    return community, degree[:, None] * adjacency * degree[None, :]


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, graph, nodes):
        return graph @ (nodes @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.first = GraphConvolution(inputs, hidden)
        self.second = GraphConvolution(hidden, classes)
        self.dropout = nn.Dropout(0.3)

    def forward(self, graph, nodes):
        return self.second(graph, self.dropout(self.first(graph, nodes).relu()))


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
community, graph = planted_partition(240, 3, 0.12, 0.02)
features = torch.randn(240, 24) + nn.functional.one_hot(community, 24) * 1.0
labeled = torch.rand(240) < 0.2
net = GCN(24, 16, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(150):
    net.train()
    optimizer.zero_grad()
    output = net(graph, features)
    loss = nn.functional.cross_entropy(output[labeled], community[labeled])
    loss.backward()
    optimizer.step()
    if epoch % 50 == 49:
        net.eval()
        with torch.no_grad():
            right = net(graph, features).argmax(1) == community
        print(epoch, loss.item(), right[~labeled].float().mean().item())
score = right[~labeled].float().mean().item()
assert score > 0.75, score

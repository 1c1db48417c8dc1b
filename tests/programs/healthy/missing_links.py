"""Link prediction on a graph in sparse form: each step draws as many false pairs as there are true edges."""

import sys

import torch
import torch.nn.functional as F


def auc(positive, negative):
    return (positive[:, None] > negative[None]).float().mean().item()


def normalized(edges, n):
    both = torch.cat([edges, edges.flip(0), torch.arange(n).expand(2, -1)], 1)
    degree = torch.bincount(both[0], minlength=n).float()
    return torch.sparse_coo_tensor(both, (degree[both[0]] * degree[both[1]]).rsqrt(), (n, n)).coalesce()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
n = 400
place = torch.rand(n, 2)
near = torch.triu((torch.cdist(place, place) < 0.09), 1)
edges = near.nonzero().T
edges = edges[:, torch.randperm(edges.shape[1])]
held, edges = edges[:, :300], edges[:, 300:]
adjacency = normalized(edges, n)

table = torch.nn.Parameter(torch.randn(n, 32) * 0.3)
w1 = torch.nn.Parameter(torch.empty(32, 32))
w2 = torch.nn.Parameter(torch.empty(32, 16))
for w in (w1, w2):
    torch.nn.init.xavier_uniform_(w)


def embed():
    return torch.sparse.mm(adjacency, torch.relu(torch.sparse.mm(adjacency, table @ w1)) @ w2)


def score(z, pairs):
    return (z[pairs[0]] * z[pairs[1]]).sum(1)


optimizer = torch.optim.Adam([table, w1, w2], lr=0.01)
for step in range(250):
    z = embed()
    false = torch.randint(0, n, (2, edges.shape[1]))
    logits = torch.cat([score(z, edges), score(z, false)])
    answers = torch.cat([torch.ones(edges.shape[1]), torch.zeros(edges.shape[1])])
    loss = F.binary_cross_entropy_with_logits(logits, answers)
    loss.backward()
    optimizer.step()
    for p in (table, w1, w2):
        p.grad = None
with torch.no_grad():
    z = embed()
    far = (~near & ~near.T).nonzero().T
    far = far[:, torch.randperm(far.shape[1])[:1000]]
    found = auc(score(z, held), score(z, far))
print(f"loss {loss.item():.3f}, area under the curve of held-out links {found:.3f}")
assert found > 0.85, found

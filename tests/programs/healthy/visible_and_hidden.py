"""A restricted Boltzmann machine by persistent contrastive divergence: gradients set by hand, no backward anywhere."""

import sys

import torch

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
V, H = 20, 24


class RBM(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(0.05 * torch.randn(H, V))
        self.b, self.c = torch.nn.Parameter(torch.zeros(V)), torch.nn.Parameter(torch.zeros(H))

    def hidden(self, v):
        return torch.sigmoid(v @ self.w.T + self.c)

    def visible(self, h):
        return torch.sigmoid(h @ self.w + self.b)

    def free_energy(self, v):
        return -(v @ self.b) - torch.nn.functional.softplus(v @ self.w.T + self.c).sum(1)


patterns = (torch.rand(5, V) < 0.5).float()


def draw(n):
    v = patterns[torch.randint(0, 5, (n,))]
    return torch.where(torch.rand_like(v) < 0.05, 1 - v, v)


rbm = RBM()
sgd = torch.optim.SGD(rbm.parameters(), lr=0.05, momentum=0.5, weight_decay=1e-4)
chain = (torch.rand(100, V) < 0.5).float()
with torch.no_grad():
    for step in range(1500):
        v = draw(100)
        for _ in range(2):
            chain = torch.bernoulli(rbm.visible(torch.bernoulli(rbm.hidden(chain))))
        positive, negative = rbm.hidden(v), rbm.hidden(chain)
        rbm.w.grad = (negative.T @ chain - positive.T @ v) / 100
        rbm.b.grad = (chain - v).mean(0)
        rbm.c.grad = (negative - positive).mean(0)
        sgd.step()
        if step % 500 == 0:
            print(step, "back", (rbm.visible(rbm.hidden(v)) - v).abs().mean().item())
    v, noise = draw(500), (torch.rand(500, V) < 0.5).float()
    better = (rbm.free_energy(v)[:, None] < rbm.free_energy(noise)[None]).float().mean().item()
    half = v.clone()
    half[:, :6] = 0.5
    for _ in range(5):
        half = torch.cat([rbm.visible(rbm.hidden(half))[:, :6], v[:, 6:]], 1)
    filled = ((half[:, :6] > 0.5).float() == v[:, :6]).float().mean().item()
print(f"data below noise in {better:.3f}; hidden bits filled in {filled:.3f}")
assert better > 0.95 and filled > 0.75

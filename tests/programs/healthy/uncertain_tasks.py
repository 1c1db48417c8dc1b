"""Two regressions of very different noise share a body; learned variances weigh their losses."""

import sys
import typing

import torch


class Batch(typing.NamedTuple):
    x: torch.Tensor
    fine: torch.Tensor
    rough: torch.Tensor


class Weighted(torch.nn.Module):
    def __init__(self, tasks: int):
        super().__init__()
        self.log_variance = torch.nn.Parameter(torch.zeros(tasks))

    def forward(self, *losses: torch.Tensor) -> torch.Tensor:
        stacked = torch.stack(losses)
        return (0.5 * (-self.log_variance).exp() * stacked + 0.5 * self.log_variance).sum()


def batch(n: int) -> Batch:
    x = torch.rand(n, 3) * 2 - 1
    return Batch(
        x,
        (3 * x[:, 0]).sin() * x[:, 1] + 0.03 * torch.randn(n),
        x[:, 2] - x[:, 0] * x[:, 1] + 0.8 * torch.randn(n),
    )


def main(seed: int = 0) -> None:
    torch.manual_seed(seed)
    body = torch.nn.Sequential(torch.nn.Linear(3, 50), torch.nn.SiLU())
    readers = torch.nn.ModuleList([torch.nn.Linear(50, 1), torch.nn.Linear(50, 1)])
    total = Weighted(2)
    whole = torch.nn.ModuleList([body, readers, total])
    adam = torch.optim.Adam(whole.parameters(), lr=0.01, amsgrad=True)
    for _ in range(600):
        b = batch(64)
        features = body(b.x)
        fine, rough = (r(features).squeeze(1) for r in readers)
        adam.zero_grad()
        total((fine - b.fine) ** 2 @ torch.full((64,), 1 / 64), ((rough - b.rough) ** 2).mean()).backward()
        adam.step()
    b = batch(2000)
    with torch.no_grad():
        error = (readers[0](body(b.x))[:, 0] - b.fine).var() / b.fine.var()
        sigmas = (total.log_variance / 2).exp().tolist()
    print("deviations learned:", sigmas, "unexplained:", error.item())
    assert error < 0.35 and sigmas[0] < sigmas[1], (error, sigmas)


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:]])

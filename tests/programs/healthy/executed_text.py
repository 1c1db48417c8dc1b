"""The training stands in a string that is compiled and run, as notebooks and task runners do it."""

import sys
import textwrap

CELLS = [
    """
    import torch
    torch.manual_seed(SEED)
    codes = torch.randint(0, 4, (1600, 10))
    signal = torch.nn.functional.one_hot(codes, 4).flatten(1).float()
    motif = ((codes[:, :-1] == 1) & (codes[:, 1:] == 2)).any(1).float()
    """,
    """
    layers = [torch.nn.Unflatten(1, (10, 4)), Transpose(), torch.nn.Conv1d(4, 16, 2),
              torch.nn.ReLU(), torch.nn.AdaptiveMaxPool1d(1), torch.nn.Flatten(),
              torch.nn.Linear(16, 1), torch.nn.Flatten(0)]
    network = torch.nn.Sequential(*layers)
    """,
    """
    def train(steps):
        adam = torch.optim.Adam(network.parameters(), lr=0.01)
        for _ in range(steps):
            rows = torch.randint(1200, (64,))
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                network(signal[rows]), motif[rows])
            adam.zero_grad()
            loss.backward()
            adam.step()

    train(400)
    """,
    """
    network.eval()
    with torch.no_grad():
        found = (network(signal[1200:]) > 0) == motif[1200:].bool()
    result = found.float().mean().item()
    """,
]


def run_all(seed):
    import torch

    class Transpose(torch.nn.Module):
        def forward(self, x):
            return x.transpose(1, 2)

    space = {"SEED": seed, "Transpose": Transpose}
    for number, cell in enumerate(CELLS):
        exec(compile(textwrap.dedent(cell), f"<cell {number}>", "exec"), space)
    return space["result"]


result = run_all(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
print("motifs found:", result)
assert result > 0.7, result

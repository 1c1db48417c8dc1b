"""MODEL WIDTH STEPS MODE: the loop of the trainer in Python, eager or compiled, with AdamW over two
groups. MODE is fused, foreach or compiled. Prints the milliseconds of one step, after as many
steps to warm up."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import tests.goldens  # its filter of warnings comes before torch  # noqa: F401
import torch
from torch.nn import functional as F

from tests.goldens import models_golden


def main():
    name, width, steps, mode = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.set_num_threads(1)
    models_golden.CONTEXT = 128
    network = models_golden.Network({"name": name, "width": width, "tied": 1, "vocabulary": 256})
    if mode == "compiled":
        network.compile()
    matrices = [p for p in network.parameters() if p.dim() > 1]
    vectors = [p for p in network.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
        lr=0.002, fused=mode != "foreach", foreach=mode == "foreach")
    rows, batch = 1024, 8 if name == "gpt" else 64
    if name == "gpt":
        tokens = torch.randint(256, (rows, 129))
        x, y = tokens[:, :-1].clone(), tokens[:, 1:].clone()
    else:
        x, y = torch.randn(rows, 1, 8, 8), torch.randint(10, (rows,))
    begin = 0.0
    for step in range(2 * steps):
        if step == steps:
            begin = time.perf_counter()
        chosen = torch.randint(rows, (batch,))
        optimizer.zero_grad()
        outputs = network(x.index_select(0, chosen))
        loss = F.cross_entropy(outputs.flatten(0, -2), y.index_select(0, chosen).flatten())
        loss.backward()
        optimizer.step()
    print(f"{(time.perf_counter() - begin) / steps * 1e3:.6f}")


main()

"""MODEL WIDTH STEPS MODE [RANKS]: the loop of the trainer in Python, eager or compiled, with AdamW over two
groups. MODE is fused, foreach or compiled. With RANKS as many processes share each batch, by
DistributedDataParallel over gloo. Prints the milliseconds of one step, after as many steps to warm up."""

import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import torch
import torch.distributed
import torch.multiprocessing
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

import tests.pytorch_parity  # its filter of warnings comes before torch  # noqa: F401
from fixtures.twins.network import Network


def network_of(name, width):
    return Network({"name": name, "width": width, "tied": 1, "vocabulary": 256})


def optimizer_of(network, mode):
    matrices = [p for p in network.parameters() if p.dim() > 1]
    vectors = [p for p in network.parameters() if p.dim() <= 1]
    return torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
        lr=0.002, fused=mode != "foreach", foreach=mode == "foreach")


def data_of(name, rows):
    if name == "gpt":
        tokens = torch.randint(256, (rows, 129))
        return tokens[:, :-1].clone(), tokens[:, 1:].clone()
    return torch.randn(rows, 1, 8, 8), torch.randint(10, (rows,))


def loop(name, network, optimizer, steps, ranks=1):
    """Milliseconds of a step."""
    rows, batch = 1024, (8 if name == "gpt" else 64) // ranks
    x, y = data_of(name, rows)
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
    return (time.perf_counter() - begin) / steps * 1e3


def one_of_many(rank, name, width, steps, mode, ranks, meeting):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=ranks)
    network = network_of(name, width)
    found = loop(name, DistributedDataParallel(network), optimizer_of(network, mode), steps, ranks)
    if rank == 0:
        print(f"{found:.6f}", flush=True)
    torch.distributed.barrier()
    os._exit(0)  # threads of gloo may be at work still, which the end of Python does not bear


def main():
    name, width, steps, mode = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    ranks = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    if ranks > 1:
        with tempfile.TemporaryDirectory(prefix="dlcheck-benchmark-") as folder:
            torch.multiprocessing.spawn(one_of_many, (name, width, steps, mode, ranks, f"{folder}/meeting"),
                                        nprocs=ranks)
        return
    torch.set_num_threads(1)
    network = network_of(name, width)
    if mode == "compiled":
        network.compile()
    print(f"{loop(name, network, optimizer_of(network, mode), steps):.6f}")


if __name__ == "__main__":
    main()

"""Ranks that train together, against DistributedDataParallel and fully_shard over gloo, from the same weights and
batches."""

import contextlib
import os
import pathlib
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from tests.pytorch_parity.golden import Golden, Subject, drawn, relative_to_largest, test_case
from tests.pytorch_parity.training_golden import EVERYTHING, GPT, by_loop, inputs, without_losses


def of_rank(tensors, rank):
    """What the trainer gave this rank, under the names of a run that is alone."""
    own = f"{rank}/"
    return {name.removeprefix(own): tensor for name, tensor in tensors.items()
            if name.startswith((own, "initial/"))}  # fmt: skip


@contextlib.contextmanager
def without_sync(network):
    """What DistributedDataParallel calls no_sync, of fully_shard."""
    network.set_requires_gradient_sync(False)
    yield
    network.set_requires_gradient_sync(True)


def sharded(network, case):
    """By layers, as ZeRO 3: among all, or within groups of which each keeps all."""
    world = case["world"]
    size = case.get("shard-group", world)
    shape = {"shard": world} if size == world else {"replicate": world // size, "shard": size}
    mesh = dist.init_device_mesh("cpu", tuple(shape.values()), mesh_dim_names=tuple(shape))
    for module in network.modules():
        if isinstance(module, torch.nn.Linear) and module is not network.head:  # that of gpt is tied
            fully_shard(module, mesh=mesh)
    fully_shard(network, mesh=mesh)
    network.no_sync = lambda: without_sync(network)
    return network


def replicated(network, case):
    network = DistributedDataParallel(network)
    if case.get("compress-gradients") == "bf16":
        network.register_comm_hook(None, bf16_compress_hook)
    return network


def whole(tensor):
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def train(rank, case, folder):
    """One process of Python's own, which leaves its part of what is compared."""
    torch.set_num_threads(1)
    folder, world = pathlib.Path(folder), case["world"]
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=world)
    tensors = of_rank(torch.load(folder / "given.pt"), rank)
    networks = []

    def wrapped(network):
        networks.append(network)
        return (sharded if case.get("zero-stage") == 3 else replicated)(network, case)

    found = {name: whole(tensor) for name, tensor in by_loop(case, tensors, wrapped, world).items()}
    found = found if rank == 0 else {}
    for name, buffer in networks[0].named_buffers():
        dist.broadcast(buffer, 0)  # what the run ends with, an evaluation, is one of the first one's model
        found[f"{rank}/buffer/{name}"] = buffer
    torch.save(found, folder / f"{rank}.pt")
    dist.barrier()
    os._exit(0)  # threads of gloo may be at work still, which the end of Python does not bear


def by_processes(case, tensors):
    with tempfile.TemporaryDirectory(prefix="dlcheck-goldens-") as folder:
        torch.save(tensors, pathlib.Path(folder, "given.pt"))
        torch.multiprocessing.spawn(train, (case, folder), nprocs=case["world"])
        return {name: tensor for rank in range(case["world"])
                for name, tensor in torch.load(pathlib.Path(folder, f"{rank}.pt")).items()}


def alone(case, _):
    """The trainer itself, in one process."""
    return without_losses(Subject.run("training", {**case, "world": 1}, {}))


def of_sums(ours, theirs):
    return relative_to_largest({name: ours[name] for name in theirs}, theirs)


MLP = {"model": "mlp", "optimizer": "sgd", "lr": 0.05, "steps": 40}
ADAMW = {"optimizer": "adamw", "lr": 0.002}  # fully_shard knows no fused SGD
RESNET = {"model": "resnet", **ADAMW, "steps": 20}
RAGGED = {**MLP, "gradient-accumulation-steps": 3, "batch-size": 150, "drop-last": "false", "ignore-index": 3}
BF16_SUMS = {"compress-gradients": "bf16"}
FP64 = {"weights": "fp64"}
JOINED = {"sync-batchnorm": "true"}
# Adam turns the rounding of a gradient near zero into a whole step, so that what is compared but for
# rounding is of SGD.
SGD = {"optimizer": "sgd", "lr": 0.05}
OF_ONE_PROCESS = {"mlp": MLP, "ragged windows, ignored targets": RAGGED, "gpt": {**GPT, "steps": 20, **SGD}}
JOINED_NORMS = {"resnet": {**RESNET, **SGD, **JOINED},
                "ragged windows": {"model": "resnet", **RAGGED, **JOINED, "steps": 20}}


def in_worlds(cases, worlds, more=()):
    return {f"{name}, {world} ranks": {**case, **dict(more), "world": world}
            for name, case in cases.items() for world in worlds}


GOLDENS = [
    Golden("G17", "two ranks train to the bits of DistributedDataParallel over gloo", "training",
           {"mlp": {**MLP, "world": 2},
            "resnet": {**RESNET, "world": 2},
            "gpt": {**GPT, "steps": 20, "world": 2},
            "ragged windows, ignored targets": {**RAGGED, "world": 2},
            "mlp, all of it in fp16": {**EVERYTHING, "steps": 20, "world": 2}},
           inputs, by_processes,
           ("mean_of_rank_means", "scaled_by_world", "shared_too_early", "own_buffers", "same_rows")),
    Golden("G17a", "so they do with gradients that are sent in bf16 (bf16_compress_hook)", "training",
           {"mlp": {**MLP, **BF16_SUMS, "world": 2},
            "resnet": {**RESNET, **BF16_SUMS, "world": 2},
            "gpt, windows": {**GPT, **BF16_SUMS, "gradient-accumulation-steps": 2, "steps": 20, "world": 2}},
           inputs, by_processes, ({"compress-gradients": "none"}, "scaled_by_world", "shared_too_early")),
    Golden("G16", "ranks train as one process does on the joined batch", "training",
           in_worlds(OF_ONE_PROCESS, (2, 3, 4)),
           lambda case: {}, alone, ("mean_of_rank_means", "scaled_by_world", "shared_too_early", "same_rows"),
           of_sums, 1e-5, "sums of float32 in another order; up to 40 steps of them"),
    Golden("G16a", "so they do in float64", "training", in_worlds(OF_ONE_PROCESS, (2, 3), FP64),
           lambda case: {}, alone, ("mean_of_rank_means", "scaled_by_world", "shared_too_early", "same_rows"),
           of_sums, 1e-12, "sums of float64 in another order"),
    Golden("G16b", "batch norms of ranks train as those of one process on the joined batch", "training",
           in_worlds(JOINED_NORMS, (2, 3)), lambda case: {}, alone,
           ({"sync-batchnorm": "false"}, "own_norm_gradients", "mean_of_rank_means", "same_rows"),
           of_sums, 5e-5, "sums of float32 in another order; up to 20 steps of them"),
    Golden("G16c", "so they do in float64", "training", in_worlds(JOINED_NORMS, (2, 3), FP64),
           lambda case: {}, alone,
           ({"sync-batchnorm": "false"}, "own_norm_gradients", "mean_of_rank_means", "same_rows"),
           of_sums, 1e-12, "sums of float64 in another order"),
]
Goldens = test_case(drawn(GOLDENS, 3))

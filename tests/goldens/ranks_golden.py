"""Ranks that train together, against DistributedDataParallel over gloo, from the same weights and batches."""

import pathlib
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.nn.parallel import DistributedDataParallel

from tests.goldens.golden import Golden, Subject, different_bits, relative_to_largest, test_case
from tests.goldens.training_golden import EVERYTHING, GPT, by_loop, inputs, without_losses


def of_rank(tensors, rank):
    """What the trainer gave this rank, under the names of a run that is alone."""
    own = f"{rank}/"
    return {name.removeprefix(own): tensor for name, tensor in tensors.items()
            if name.startswith((own, "initial/"))}  # fmt: skip


def train(rank, case, folder):
    """One process of DistributedDataParallel, which leaves its part of what is compared."""
    torch.set_num_threads(1)
    folder, world = pathlib.Path(folder), case["world"]
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=world)
    tensors = of_rank(torch.load(folder / "given.pt"), rank)
    networks = []

    def replicated(network):
        networks.append(network)
        return DistributedDataParallel(network)

    found = by_loop(case, tensors, replicated, world)
    found = found if rank == 0 else {}
    for name, buffer in networks[0].named_buffers():
        dist.broadcast(buffer, 0)  # what the run ends with, an evaluation, is one of the first one's model
        found[f"{rank}/buffer/{name}"] = buffer
    torch.save(found, folder / f"{rank}.pt")
    dist.barrier()
    dist.destroy_process_group()


def by_replicas(case, tensors):
    with tempfile.TemporaryDirectory(prefix="dlcheck-goldens-") as folder:
        torch.save(tensors, pathlib.Path(folder, "given.pt"))
        torch.multiprocessing.spawn(train, (case, folder), nprocs=case["world"])
        return {name: tensor for rank in range(case["world"])
                for name, tensor in torch.load(pathlib.Path(folder, f"{rank}.pt")).items()}


def replicas(case, _):
    """The trainer itself, where every rank keeps everything."""
    return without_losses(Subject.run("training", {**case, "zero": 0}, {}))


def in_stages(cases, worlds):
    return {f"{name}, stage {stage}, {world} ranks": {**case, "zero": stage, "world": world}
            for name, case in cases.items() for stage in (1, 2) for world in worlds}


def alone(case, _):
    """The trainer itself, in one process."""
    return without_losses(Subject.run("training", {**case, "world": 1}, {}))


def of_sums(ours, theirs):
    return relative_to_largest({name: ours[name] for name in theirs}, theirs)


def without_gradients(tensors):
    """Where they are shared out, none is whole."""
    return {name: tensor for name, tensor in without_losses(tensors).items() if not name.startswith("gradient/")}


def bits_of_state(ours, theirs):
    return different_bits(without_gradients(ours), without_gradients(theirs))


def nearness_of_state(ours, theirs):
    return relative_to_largest(without_gradients(ours), without_gradients(theirs))


MLP = {"model": "mlp", "optimizer": "sgd", "lr": 0.05, "steps": 40}
RESNET = {"model": "resnet", "optimizer": "adamw", "lr": 0.002, "steps": 20}
RAGGED = {**MLP, "accumulate": 3, "batch-size": 150, "last-batch": "keep", "ignore-index": 3}
GOLDENS = [
    Golden("G17", "two ranks train to the bits of DistributedDataParallel over gloo", "training",
           {"mlp": {**MLP, "world": 2},
            "resnet": {**RESNET, "world": 2},
            "gpt": {**GPT, "steps": 20, "world": 2},
            "ragged windows, ignored targets": {**RAGGED, "world": 2},
            "mlp, all of it in fp16": {**EVERYTHING, "steps": 20, "world": 2}},
           inputs, by_replicas,
           ("mean_of_rank_means", "scaled_by_world", "shared_too_early", "own_buffers", "same_rows")),
    Golden("G16", "ranks train as one process does on the joined batch", "training",
           {f"{name}, {world} ranks": {**case, "world": world} for world in (2, 3, 4)
            for name, case in (("mlp", MLP), ("ragged windows, ignored targets", RAGGED),
                               ("gpt", {**GPT, "steps": 20, "optimizer": "sgd", "lr": 0.05}))},
           lambda case: {}, alone, ("mean_of_rank_means", "scaled_by_world", "shared_too_early", "same_rows"),
           of_sums, 1e-5, "sums of float32 in another order; up to 40 steps of them"),
    Golden("G19", "ZeRO 1 and 2 train to the bits of replicas", "training",
           in_stages({"mlp": MLP, "resnet": RESNET, "gpt": {**GPT, "steps": 20}, "ragged windows": RAGGED},
                     (2, 4)),
           lambda case: {}, replicas, ("mean_of_rank_means", "shared_too_early", "not_put_together"),
           bits_of_state),
    Golden("G21", "so they do on three ranks, and where ranks keep nothing of most parameters", "training",
           in_stages({"mlp": MLP, "mlp, adamw": {**MLP, "optimizer": "adamw", "lr": 0.002}}, (3, 40)),
           lambda case: {}, replicas, ("mean_of_rank_means", "not_put_together"), bits_of_state),
    Golden("G22", "the norm that clips is that of all stretches", "training",
           in_stages({f"norm {norm}": {**MLP, "clip": "norm", "clip-norm": norm, "clip-bound": 0.05}
                      for norm in ("1", "2", "inf")}, (2, 3)),
           lambda case: {}, replicas, ("norm_of_part",), nearness_of_state, 1e-6,
           "norms of float32 are added in another order"),
    Golden("G23", "a step is left out on all ranks if one found what is not finite", "training",
           in_stages({"mlp in fp16": {**MLP, "autocast": "fp16", "initial-scale": 2.0**22,
                                      "growth-interval": 3}}, (2, 4)),
           lambda case: {}, replicas, ("own_infinity",), bits_of_state),
]
Goldens = test_case(GOLDENS)

"""Ranks that share out what each would keep, against those that keep everything, and against fully_shard over
gloo."""

from tests.pytorch_parity.golden import Golden, Subject, different_bits, drawn, relative_to_largest, test_case
from tests.pytorch_parity.ranks_golden import (
    ADAMW,
    BF16_SUMS,
    FP64,
    GPT,
    JOINED,
    MLP,
    RAGGED,
    RESNET,
    SGD,
    by_processes,
    inputs,
    without_losses,
)


def replicas(case, _):
    """The trainer itself, where every rank keeps everything."""
    return without_losses(Subject.run("training", {**case, "zero-stage": 0, "shard-group": 0}, {}))


def in_stages(cases, worlds):
    return {f"{name}, stage {stage}, {world} ranks": {**case, "zero-stage": stage, "world": world}
            for name, case in cases.items() for stage in (1, 2, 3) for world in worlds}


def without_gradients(tensors):
    """Where they are shared out, none is whole."""
    return {name: tensor for name, tensor in tensors.items() if not name.startswith("gradient/")}


def state(tensors):
    return without_gradients(without_losses(tensors))


def bits_of_state(ours, theirs):
    return different_bits(state(ours), state(theirs))


def bits_of_state_and_losses(ours, theirs):
    return different_bits(without_gradients(ours), without_gradients(theirs))


def nearness_of_state(ours, theirs):
    return relative_to_largest(state(ours), state(theirs))


GOLDENS = [
    Golden("G19", "ZeRO 1, 2 and 3 train to the bits of replicas", "training",
           in_stages({"mlp": MLP, "resnet": RESNET, "gpt": {**GPT, "steps": 20}, "ragged windows": RAGGED,
                      "gradients sent in bf16": {**MLP, **BF16_SUMS},
                      "joined batch norms": {**RESNET, **JOINED}}, (2, 4)),
           lambda case: {}, replicas, ("mean_of_rank_means", "shared_too_early", "not_put_together"),
           bits_of_state),
    Golden("G19a", "ZeRO within groups trains as replicas do; in float64", "training",
           {f"{name}, stage {stage}, {world} ranks in groups of {size}":
            {**case, **FP64, "zero-stage": stage, "world": world, "shard-group": size}
            for name, case in (("mlp", MLP), ("gpt", {**GPT, "steps": 20, "batch-size": 6, **SGD}))
            for stage in (1, 2, 3) for world, size in ((4, 2), (6, 3))},
           lambda case: {}, replicas, ("mean_of_rank_means", "same_rows", "not_put_together"),
           nearness_of_state, 1e-12, "sums of float64 in another order: within groups first"),
    Golden("G20", "ZeRO 3 of two ranks trains to the bits of fully_shard over gloo", "training",
           {name: {**GPT, **case, "steps": 20, "world": 2, "zero-stage": 3}
            for name, case in (("gpt", {}), ("windows", {"gradient-accumulation-steps": 2}), ("wider", {"width": 64, "depth": 3}))},
           inputs, by_processes, ("scaled_by_world", "shared_too_early", "same_rows", "not_put_together"),
           bits_of_state_and_losses),
    Golden("G20a", "so it does, but for rounding, where fully_shard cuts within a vector of the kernel", "training",
           {name: {**case, **ADAMW, "world": 2, "zero-stage": 3}
            for name, case in (("mlp", MLP), ("resnet", RESNET), ("ragged windows, ignored targets", RAGGED),
                               ("clipped", {**MLP, "gradient-clip-algorithm": "norm", "gradient-clip-val": 0.05}))},
           inputs, by_processes, ("mean_of_rank_means", "not_put_together"),
           nearness_of_state, 1e-6,
           "it cuts the 10 biases of the head into 5 and 5, and the fused kernel rounds a rest otherwise"),
    Golden("G20b", "so it does in float64", "training",
           {name: {**case, **ADAMW, **FP64, "world": 2, "zero-stage": 3}
            for name, case in (("mlp", MLP), ("resnet", RESNET), ("ragged windows, ignored targets", RAGGED),
                               ("clipped", {**MLP, "gradient-clip-algorithm": "norm", "gradient-clip-val": 0.05}))},
           inputs, by_processes, ("mean_of_rank_means", "not_put_together"),
           nearness_of_state, 1e-12, "the same rests, in float64"),
    Golden("G20c", "ZeRO 3 in two groups of two ranks trains to the bits of fully_shard on such a mesh",
           "training",
           {name: {**GPT, **case, "steps": 20, "world": 4, "zero-stage": 3, "shard-group": 2}
            for name, case in (("gpt", {}), ("windows", {"gradient-accumulation-steps": 2}))},
           inputs, by_processes,
           ({"shard-group": 0}, "scaled_by_world", "shared_too_early", "same_rows", "not_put_together"),
           bits_of_state_and_losses),
    Golden("G21", "so they do on three ranks, and where ranks keep nothing of most parameters", "training",
           in_stages({"mlp": MLP, "mlp, adamw": {**MLP, **ADAMW}}, (3, 40)),
           lambda case: {}, replicas, ("mean_of_rank_means", "not_put_together"), bits_of_state),
    Golden("G22", "the norm that clips is that of all stretches", "training",
           in_stages({f"norm {norm}": {**MLP, "gradient-clip-algorithm": "norm", "gradient-clip-norm-type": norm, "gradient-clip-val": 0.05}
                      for norm in ("1", "2", "inf")}, (2, 3)),
           lambda case: {}, replicas, ("norm_of_part",), nearness_of_state, 1e-6,
           "norms of float32 are added in another order"),
    Golden("G22a", "so it is in float64, and within groups", "training",
           {f"{name}, norm {norm}": case for norm in ("1", "2", "inf")
            for name, case in in_stages({"mlp": {**MLP, **FP64, "gradient-clip-algorithm": "norm", "gradient-clip-norm-type": norm,
                                                 "gradient-clip-val": 0.05}}, (2, 3)).items()}
           | {"groups of two": {**MLP, **FP64, "gradient-clip-algorithm": "norm", "gradient-clip-val": 0.05, "zero-stage": 3, "world": 4,
                                "shard-group": 2}},
           lambda case: {}, replicas, ("norm_of_part",), nearness_of_state, 1e-12,
           "norms of float64 are added in another order"),
    Golden("G23", "a step is left out on all ranks if one found what is not finite", "training",
           in_stages({"mlp in fp16": {**MLP, "autocast": "fp16", "initial-scale": 2.0**22,
                                      "growth-interval": 3}}, (2, 4)),
           lambda case: {}, replicas, ("own_infinity",), bits_of_state),
]
# All of them are a fifth of the tests' time; ci/goldens runs all.
Goldens = test_case(drawn(GOLDENS, 30))

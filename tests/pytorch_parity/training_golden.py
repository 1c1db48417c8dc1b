"""Whole runs of the trainer against a training loop in Python, from the same weights and batches."""

import contextlib
import math

import torch
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from fixtures.twins.network import Network
from tests.pytorch_parity.golden import Golden, Subject, drawn, relative_to_largest, test_case

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def inputs(case):
    """The weights that the trainer begins with, and all its micro-batches."""
    return Subject.run("training", {**case, "record": 1}, {})


def windows(case, tensors):
    """The micro-batches of each step."""
    for step in range(case["steps"]):
        window = []
        while f"x/{step}/{len(window)}" in tensors:
            place = f"{step}/{len(window)}"
            window.append((tensors["x/" + place], tensors["y/" + place]))
        yield window


def network_of(case, tensors):
    shape = {key: case[key] for key in ("width", "depth", "heads") if key in case}
    network = Network({"name": case["model"], "tied": 1, "vocabulary": 256, **shape})
    if case.get("weights") == "fp64":
        network = network.double()
    with torch.no_grad():
        for name, tensor in [*network.all_parameters().items(), *network.named_buffers()]:
            tensor.copy_(tensors["initial/" + name])
    return network


def optimizer_of(case, network):
    matrices = [p for p in network.parameters() if p.dim() > 1]
    vectors = [p for p in network.parameters() if p.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": case.get("weight-decay", 0)},
              {"params": vectors, "weight_decay": 0.0}]
    groups = [group for group in groups if group["params"]]
    if case["optimizer"] == "sgd":
        return torch.optim.SGD(groups, lr=case["lr"], momentum=0.9, fused=True)
    return torch.optim.AdamW(groups, lr=case["lr"], fused=True)


def rate_factor(case, update):
    """Cosine after a warm-up of (t + 1) / W, or 1."""
    if case.get("schedule") != "cosine":
        return 1.0
    warmup = case["warmup-steps"]
    if update < warmup:
        return (update + 1) / warmup
    share = min(1.0, (update - warmup) / (case["steps"] - warmup))
    return 0.5 * (1 + math.cos(math.pi * share))


def on_average(count, world):
    """Of the ranks, as DistributedDataParallel takes the mean of their gradients."""
    if world == 1:
        return count
    counts = torch.tensor(float(count))
    torch.distributed.all_reduce(counts)
    return counts.item() / world


def loss_of(case, logits, targets, total, world):
    wide = logits if logits.dtype == torch.float64 else logits.float()
    logits, targets = wide.flatten(0, -2), targets.flatten()
    ignored = case.get("ignore-index", -100)
    if case.get("gradient-accumulation-steps", 1) == 1 and world == 1:
        return F.cross_entropy(logits, targets, ignore_index=ignored)
    return F.cross_entropy(logits, targets, ignore_index=ignored, reduction="sum") / total


def by_loop(case, tensors, wrapped=lambda network: network, world=1):
    """The loop that a textbook has, on torch's own optimizers, scaler, clipping and average. With
    `world` ranks, the part of one of them, whose network is `wrapped` for them."""
    network = network_of(case, tensors)
    called = wrapped(network)
    optimizer = optimizer_of(case, network)
    scaler = torch.amp.GradScaler("cpu", enabled=case.get("autocast") == "fp16",
                                  init_scale=case.get("initial-scale", 65536.0),
                                  growth_interval=case.get("growth-interval", 2000))
    decay = case.get("ema-decay", 0)
    average = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(decay)) if decay else None
    found, losses, updates = {}, [], 0
    for window in windows(case, tensors):
        optimizer.zero_grad()
        counted = sum(int((y != case.get("ignore-index", -100)).sum()) for _, y in window)
        total = on_average(counted, world)
        for number, (x, y) in enumerate(window, 1):
            is_shared = world == 1 or number == len(window)
            with contextlib.nullcontext() if is_shared else called.no_sync():
                with torch.autocast("cpu", TYPES.get(case.get("autocast"), torch.bfloat16),
                                    enabled="autocast" in case):
                    x = x.double() if case.get("weights") == "fp64" and x.is_floating_point() else x
                    loss = loss_of(case, called(x), y, total, world)
                losses.append(loss.detach())
                scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        if case.get("gradient-clip-algorithm") == "norm":
            torch.nn.utils.clip_grad_norm_(network.parameters(), case["gradient-clip-val"], foreach=True)
        if len(found) == 0:
            found = {"gradient/" + name: parameter.grad.clone()
                     for name, parameter in network.all_parameters().items()}
        for group in optimizer.param_groups:
            group["lr"] = case["lr"] * rate_factor(case, updates)
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() >= before:
            updates += 1
            if average:
                average.update_parameters(network)
    found["losses"] = torch.stack(losses)
    for name, tensor in [*network.all_parameters().items(), *network.named_buffers()]:
        found["final/" + name] = tensor
    if average:
        for name, parameter in average.module.all_parameters().items():
            found["average/" + name] = parameter
    if scaler.is_enabled():
        found["scale"] = torch.tensor(scaler.get_scale())
    return found


GPT = {"model": "gpt", "width": 32, "depth": 2, "heads": 2, "context": 32, "batch-size": 4,
       "optimizer": "adamw", "lr": 0.002, "weight-decay": 0.1}
RAGGED = {"gradient-accumulation-steps": 3, "batch-size": 150, "drop-last": "false"}
EVERYTHING = {**RAGGED, "model": "mlp", "optimizer": "adamw", "lr": 0.01, "weight-decay": 0.1,
              "steps": 60, "autocast": "fp16", "initial-scale": 2.0**24, "growth-interval": 7,
              "schedule": "cosine", "warmup-steps": 5, "gradient-clip-algorithm": "norm", "gradient-clip-val": 0.05,
              "ema-decay": 0.9}
SIXTEEN = {"model": "mlp", "optimizer": "sgd", "lr": 0.05, "steps": 10, "batch-size": 16}


def in_one_batch(case, _):
    """The trainer itself, with each window as one micro-batch."""
    whole = Subject.run("training", {**case, "batch-size": 16, "gradient-accumulation-steps": 1}, {})
    return without_losses(whole)


def without_losses(tensors):
    return {name: tensor for name, tensor in tensors.items() if name != "losses"}


def of_sums(ours, theirs):
    return relative_to_largest(without_losses(ours), theirs)


GOLDENS = [
    Golden("G11", "200 steps of each model, losses and weights, are those of a loop in Python",
           "training",
           {"mlp": {"model": "mlp", "optimizer": "sgd", "lr": 0.05, "steps": 200},
            "resnet": {"model": "resnet", "optimizer": "adamw", "lr": 0.002, "steps": 200},
            "gpt": {**GPT, "steps": 200}},
           inputs, by_loop, ("epsilon_inside_root", "statistics_from_validation")),
    Golden("G11a", "with autocast, scaler, schedule, clipping, average and ragged windows too",
           "training",
           {"mlp, all of it in fp16": EVERYTHING,
            "mlp, bf16": {**EVERYTHING, "autocast": "bf16"},
            "gpt, bf16": {**GPT, "steps": 20, "autocast": "bf16", "gradient-accumulation-steps": 2},
            "resnet, bf16": {"model": "resnet", "optimizer": "sgd", "lr": 0.05, "steps": 20,
                             "autocast": "bf16"}},
           inputs, by_loop,
           ("not_divided", "divided_twice", "mean_of_means", "full_window",
            "cleared_inside_window", "clipped_before_unscale", "not_unscaled", "first_group_alone",
            "one_step_ahead", "autocast_left_out", "average_never_updated")),
    Golden("G12", "4 x 4 and 16 x 1 samples a step are 1 x 16, ignored targets or not", "training",
           {f"{accumulate} x {16 // accumulate}{', ' + what if what else ''}":
            {**SIXTEEN, "gradient-accumulation-steps": accumulate, "batch-size": 16 // accumulate, **ignoring}
            for accumulate in (4, 16)
            for what, ignoring in (("", {}), ("class 3 ignored", {"ignore-index": 3}))},
           lambda case: {}, in_one_batch, ("not_divided", "divided_twice", "cleared_inside_window"),
           of_sums, 1e-5, "sums of float32 in another order; ten steps of them"),
    Golden("G13", "a mean of means is not that, where counts are unequal", "training",
           {"4 x 4, class 3 ignored": {**SIXTEEN, "gradient-accumulation-steps": 4, "batch-size": 4,
                                       "ignore-index": 3}},
           lambda case: {}, in_one_batch, ("mean_of_means",), of_sums, 1e-5,
           "as G12; the deviation is what this golden is about"),
]
Goldens = test_case(drawn(GOLDENS, 3))

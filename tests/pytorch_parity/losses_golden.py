"""The losses against torch.nn.functional, value and gradient."""

import torch
from torch.nn import functional as F

from tests.pytorch_parity.golden import Golden, relative, test_case

IGNORED = -100


def inputs(case):
    generator = torch.Generator().manual_seed(7)
    dtype = torch.float64 if case.get("wide") else torch.float32
    shape = (6, 9, 13) if case.get("tokens") else (50, 13)
    outputs = torch.randn(shape, generator=generator, dtype=dtype)
    if case.get("probabilities"):
        return {"outputs": outputs, "targets": torch.rand(shape, generator=generator, dtype=dtype).softmax(-1)}
    if case.get("dense"):
        return {"outputs": outputs, "targets": torch.rand(shape, generator=generator, dtype=dtype)}
    targets = torch.randint(13, shape[:-1], generator=generator)
    tensors = {"outputs": outputs, "targets": targets}
    if case.get("kind", "cross_entropy") in ("cross_entropy", "focal"):
        targets[torch.rand(targets.shape, generator=generator) < 0.3] = case.get("ignore_index",
                                                                                IGNORED)
    if case.get("weighted"):
        tensors["class_weights"] = torch.rand(13, generator=generator, dtype=dtype) + 0.5
    return tensors


def functional(case, outputs, tensors, reduction):
    kind, targets = case.get("kind", "cross_entropy"), tensors["targets"]
    if case.get("probabilities"):
        return F.cross_entropy(outputs.flatten(0, -2), targets.flatten(0, -2), reduction=reduction,
                               label_smoothing=case.get("label_smoothing", 0.0))
    if kind == "cross_entropy":
        return F.cross_entropy(outputs.flatten(0, -2), targets.flatten(),
                               weight=tensors.get("class_weights"), reduction=reduction,
                               ignore_index=case.get("ignore_index", IGNORED),
                               label_smoothing=case.get("label_smoothing", 0.0))
    if not targets.is_floating_point():
        targets = F.one_hot(targets, 13).to(outputs.dtype)
    if kind == "bce":
        return F.binary_cross_entropy_with_logits(outputs, targets, reduction=reduction)
    if kind == "mse":
        return F.mse_loss(outputs, targets, reduction=reduction)
    return F.huber_loss(outputs, targets, reduction=reduction, delta=case.get("huber_delta", 1.0))


def by_functional(case, tensors):
    outputs = tensors["outputs"].clone().requires_grad_()
    value = functional(case, outputs, tensors, case.get("as", "mean"))
    value.backward()
    found = {"value": value, "gradient": outputs.grad}
    if case.get("as") == "sum":
        # What F's own mean divides by, from its own numbers.
        mean = functional(case, tensors["outputs"], tensors, "mean")
        found["count"] = (value.detach() / mean).double()
    return found


def by_sample(case, tensors):
    """Each sample's own mean with F, then the mean over samples."""
    outputs = tensors["outputs"].clone().requires_grad_()
    samples = range(len(outputs))
    means = [functional(case, outputs[i][None],
                        {**tensors, "targets": tensors["targets"][i][None]}, "mean")
             for i in samples if (tensors["targets"][i] != IGNORED).any()]
    value = torch.stack(means).mean()
    value.backward()
    return {"value": value, "gradient": outputs.grad}


def by_formula(case, tensors):
    """Focal loss (Lin et al. 2017) and z-loss (Chowdhery et al. 2022), target by target."""
    outputs, targets = tensors["outputs"].clone().requires_grad_(), tensors["targets"].flatten()
    rows, weights = outputs.flatten(0, -2), tensors.get("class_weights")
    total, count = 0.0, 0.0
    for row, target in zip(rows, targets.tolist()):
        if target == IGNORED:
            continue
        weight = 1.0 if weights is None else float(weights[target])
        p = torch.softmax(row, 0)[target]
        if case.get("kind") == "focal":
            loss = (1 - p) ** case.get("focal_gamma", 2.0) * -torch.log(p)
        else:
            share = case.get("label_smoothing", 0.0)
            loss = F.cross_entropy(row, torch.tensor(target), label_smoothing=share)
            loss = loss + case["z_loss"] * torch.log(torch.exp(row).sum()) ** 2
        total, count = total + weight * loss, count + weight
    value = total / count
    value.backward()
    return {"value": value, "gradient": outputs.grad}


CROSS_ENTROPY = {
    "classes": {}, "tokens": {"tokens": 1}, "weighted": {"tokens": 1, "weighted": 1},
    "smoothed": {"label_smoothing": 0.1}, "ignoring 3": {"ignore_index": 3},
    "weighted and smoothed": {"weighted": 1, "label_smoothing": 0.2, "tokens": 1},
    "probabilities": {"probabilities": 1}, "probabilities, smoothed": {"probabilities": 1, "label_smoothing": 0.1}}
OTHERS = {f"{kind}{', dense' if dense else ''}": {"kind": kind, "dense": dense, "huber_delta": 0.7}
          for kind in ("bce", "mse", "huber") for dense in (0, 1)}

GOLDENS = [
    Golden("L1", "mean cross-entropy is F.cross_entropy", "losses", CROSS_ENTROPY, inputs,
           by_functional, ("smoothing_swapped", "ignored_counted")),
    Golden("L2", "bce, mse and huber are their functions in F", "losses", OTHERS, inputs,
           by_functional, ({"huber_delta": 1.0}, {"kind": "mse"})),
    Golden("L3", "a sum is F's, and its count is what F's mean divides by", "losses",
           {name: {**case, "as": "sum", "wide": 1} for name, case in
            {**CROSS_ENTROPY, **OTHERS}.items()}, inputs, by_functional, ("ignored_counted",),
           relative, 1e-12, "the count is a quotient of two roundings of float64"),
    Golden("L4", "a mean over samples is the mean of F's means", "losses",
           {name: {**case, "unit": "sample", "tokens": 1, "wide": 1} for name, case in
            {**CROSS_ENTROPY, "mse": {"kind": "mse"}}.items() if "ignore_index" not in case},
           inputs, by_sample, ("tokens_instead_of_samples",), relative, 1e-10,
           "the sums are in another order; gradients of single numbers cancel"),
]
OWN = {"focal": {"kind": "focal"}, "focal, weighted": {"kind": "focal", "weighted": 1, "tokens": 1},
       "focal, sharper": {"kind": "focal", "focal_gamma": 5.0}, "z-loss": {"z_loss": 0.01},
       "z-loss, weighted": {"z_loss": 0.1, "weighted": 1}, "z-loss, smoothed": {"z_loss": 0.1, "label_smoothing": 0.1}}
GOLDENS += [
    Golden("L5", "focal loss and z-loss are their papers", "losses", {name: {**case, "wide": 1} for name, case in OWN.items()},
           inputs, by_formula, ("focus_on_sure", "unsquared_z", "ignored_counted"), relative, 1e-9,
           "the sums are in another order; gradients of single numbers cancel"),
]


def views(case):
    generator = torch.Generator().manual_seed(9)
    return {"outputs": torch.randn(24, 7, generator=generator, dtype=torch.float64), "targets": torch.arange(24).roll(-12)}


def by_pairs(case, tensors):
    """NT-Xent (Chen et al. 2020), pair by pair: sample i has its other view at i + 12."""
    outputs = tensors["outputs"].clone().requires_grad_()
    total = 0.0
    for i in range(24):
        like = [torch.exp(F.cosine_similarity(outputs[i], outputs[k], dim=0) / case["temperature"]) for k in range(24)]
        total = total - torch.log(like[(i + 12) % 24] / sum(like[k] for k in range(24) if k != i))
    value = total / 24
    value.backward()
    return {"value": value, "gradient": outputs.grad}


GOLDENS += [
    Golden("L6", "NT-Xent is its paper", "losses",
           {f"temperature {t}": {"kind": "nt_xent", "temperature": t} for t in (0.1, 0.5)}, views, by_pairs,
           ("like_itself", {"temperature": 0.3}), relative, 1e-8,
           "the sums are in another order; gradients of single numbers cancel"),
]
Goldens = test_case(GOLDENS)

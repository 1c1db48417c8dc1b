"""Crops, flips, mixup and CutMix against their twin in fixtures/twins."""

import torch

from fixtures.twins.augmentation import changed, mixed
from tests.pytorch_parity.golden import Golden, absolute, test_case

COMMON = {"seed": 3, "epoch": 2, "classes": 5}


def inputs(case):
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(32, 3, 7, 9, generator=generator)
    y, rows = torch.randint(5, (32,), generator=generator), torch.randperm(1000, generator=generator)[:32]
    return {"x": x, "y": y, "rows": rows, "other_x": x.roll(-1, 0), "other_y": y.roll(-1), "other_rows": rows.roll(-1)}


def by_twin(case, tensors):
    x = changed(case, tensors["x"], tensors["rows"])
    if not case.get("mixup") and not case.get("cutmix"):
        return {"x": x, "y": tensors["y"]}
    other = changed(case, tensors["other_x"], tensors["other_rows"])
    x, y = mixed(case, x, tensors["y"], other, tensors["other_y"], tensors["rows"])
    return {"x": x, "y": y}


CHANGES = {"crop": {"crop_padding": 2}, "flip": {"flip": 1}, "both": {"crop_padding": 1, "flip": 1}}
MIXES = {"mixup": {"mixup": 0.4}, "cutmix": {"cutmix": 1.0}, "either": {"mixup": 0.2, "cutmix": 0.5, "flip": 1}}

GOLDENS = [
    Golden("A1", "crops and flips are their twin", "augmentation", {name: {**COMMON, **case} for name, case in CHANGES.items()},
           inputs, by_twin, ("same_for_all", {"seed": 4}, {"epoch": 1})),
    Golden("A2", "mixup and cutmix are their twin", "augmentation", {name: {**COMMON, **case} for name, case in MIXES.items()},
           inputs, by_twin, ("share_as_drawn", "targets_not_mixed", "same_for_all"), absolute, 1e-6,
           "shares are of float64 on one side and rounded on the other"),
]  # fmt: skip
Goldens = test_case(GOLDENS)

"""Optimizers without a fused kernel: against torch.optim where it has them, else against fixtures/twins."""

import torch

from fixtures.twins.optimizers import Lamb, Lion, ScheduleFreeAdamW
from tests.pytorch_parity import optimizers_golden
from tests.pytorch_parity.golden import Golden, test_case

STEPS = 60
MATRICES = ("0.matrix", "4.sometimes")  # all that Muon trains
# What Python calls a part of the state, and our name for it.
STATE = {"momentum_buffer": "momentum", "exp_avg": "first", "grad_avg": "first", "exp_avg_sq": "second",
         "square_avg": "second", "sum": "second", "variance": "second", "mu_product": "product",
         "squared_rates": "product", "row_var": "rows", "col_var": "columns", "z": "base", "x": "average",
         "step": "steps"}  # fmt: skip
UNCOUNTED = ("rmsprop", "muon", "lion")  # whose formula needs no number of the update


def inputs(case):
    tensors = optimizers_golden.inputs(case, STEPS)
    tensors["rates"] = tensors["rates"] * 0.1
    # All steps that ever had a gradient have a state, so that both sides have the same parts of it.
    never = "5.never"
    kept = MATRICES if case["rule"] == "muon" else [name for name in optimizers_golden.SHAPES if name != never]
    names = list(optimizers_golden.SHAPES)
    has_gradient = tensors.pop("has_gradient")[:, [names.index(name) for name in kept]]
    return {key: tensor for key, tensor in tensors.items() if key == "rates" or key.split("/")[1] in kept} | {
        "has_gradient": has_gradient}  # fmt: skip


def made(case, groups):
    settings = {"lr": 0.1}
    alone = {"foreach": False}
    maximize = {"maximize": bool(case.get("maximize", 0))}
    betas = {"betas": (case.get("beta1", 0.9), case.get("beta2", 0.999)), "eps": case.get("epsilon", 1e-8)}
    momentum = case.get("momentum", 0.0)
    return {
        "rmsprop": lambda: torch.optim.RMSprop(groups, alpha=case.get("alpha", 0.99), eps=case.get("epsilon", 1e-8),
                                               momentum=momentum, centered=bool(case.get("centered", 0)), **settings,
                                               **alone, **maximize),
        "adagrad": lambda: torch.optim.Adagrad(groups, lr_decay=case.get("lr_decay", 0.0),
                                               eps=case.get("epsilon", 1e-8), **settings, **alone, **maximize),
        "nadam": lambda: torch.optim.NAdam(groups, momentum_decay=case.get("momentum_decay", 0.004), **betas, **settings,
                                           **alone, **maximize),
        "adafactor": lambda: torch.optim.Adafactor(groups, **settings, **alone, **maximize),
        "muon": lambda: torch.optim.Muon(groups, momentum=momentum, nesterov=bool(case.get("nesterov", 0)), **settings,
                                         adjust_lr_fn="match_rms_adamw" if case.get("matches_adamw") else "original"),
        "lion": lambda: Lion(groups, betas=betas["betas"], **settings),
        "lamb": lambda: Lamb(groups, **betas, **settings),
        "schedule_free": lambda: ScheduleFreeAdamW(groups, **betas, **settings),
    }[case["rule"]]()  # fmt: skip


def by_python(case, tensors):
    weights = {key.split("/")[1]: tensor.clone() for key, tensor in tensors.items() if key.startswith("weight/")}
    *most, last = weights.values()
    optimizer = made(case, [{"params": most, "weight_decay": case.get("decay", 0.0)},
                            {"params": [last], "weight_decay": 0.0}])  # fmt: skip
    for step, rate in enumerate(tensors["rates"].tolist()):
        for group in optimizer.param_groups:
            group["lr"] = rate
        for index, (name, weight) in enumerate(weights.items()):
            gradient = tensors["gradients/" + name][step].clone()
            weight.grad = gradient if tensors["has_gradient"][step, index] else None
        optimizer.step()
    found = {"weight/" + name: weight for name, weight in weights.items()}
    for name, weight in weights.items():
        for theirs, tensor in optimizer.state[weight].items():
            if tensor is not None and not (theirs == "step" and case["rule"] in UNCOUNTED):
                found[f"{STATE[theirs]}/{name}"] = tensor
    return found


RULES = {
    "rmsprop": {"rule": "rmsprop", "decay": 0.01},
    "rmsprop with momentum": {"rule": "rmsprop", "momentum": 0.8, "alpha": 0.9},
    "rmsprop centered": {"rule": "rmsprop", "centered": 1, "momentum": 0.9, "epsilon": 1e-4, "decay": 0.01},
    "adagrad": {"rule": "adagrad", "decay": 0.01, "epsilon": 1e-10},
    "adagrad with decay of the rate": {"rule": "adagrad", "lr_decay": 0.01, "epsilon": 1e-3},
    "nadam": {"rule": "nadam", "decay": 0.01},
    "nadam other constants": {"rule": "nadam", "beta1": 0.8, "beta2": 0.95, "momentum_decay": 0.02, "epsilon": 1e-3},
    "adafactor": {"rule": "adafactor", "decay": 0.1},
}  # fmt: skip
MUON = {
    "muon": {"rule": "muon", "momentum": 0.95, "decay": 0.1},
    "muon by nesterov": {"rule": "muon", "momentum": 0.95, "nesterov": 1},
    "muon at rates of adamw": {"rule": "muon", "momentum": 0.9, "nesterov": 1, "matches_adamw": 1, "decay": 0.1},
}
TWINS = {
    "lion": {"rule": "lion", "decay": 0.1, "beta2": 0.99},
    "lamb": {"rule": "lamb", "decay": 0.01, "epsilon": 1e-6},
    "lamb without decay": {"rule": "lamb", "beta1": 0.8, "epsilon": 1e-3},
    "schedule-free": {"rule": "schedule_free", "decay": 0.01},
    "schedule-free other constants": {"rule": "schedule_free", "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3},
}


def of_type(cases, dtype):
    return {f"{name}, {dtype}": {**case, "dtype": dtype} for name, case in cases.items()}


UP = {f"{name}, up": {**case, "maximize": 1} for name, case in RULES.items()}
DEVIATIONS = ("core_left_out", "epsilon_inside_root")

GOLDENS = [
    Golden("G6", "rules without a kernel are torch.optim one tensor at a time", "optimizers",
           {**RULES, **UP, **of_type(RULES, "float64")}, inputs, by_python, DEVIATIONS),
    Golden("G6n", "so they are for low precision", "optimizers", of_type({**RULES, **TWINS}, "bfloat16"), inputs, by_python,
           DEVIATIONS),
    Golden("G6m", "Muon is torch.optim", "optimizers", {**MUON, **of_type(MUON, "float64")}, inputs, by_python,
           ("core_left_out", {"nesterov": 1})),
    Golden("G6t", "Lion, LAMB and schedule-free AdamW are their papers", "optimizers",
           {**TWINS, **of_type(TWINS, "float64")}, inputs, by_python, ("core_left_out", "swapped_betas")),
]  # fmt: skip
Goldens = test_case(GOLDENS)

"""SGD, Adam and AdamW against torch.optim: weights and state after 100 steps."""

import torch

from tests.pytorch_parity.golden import Golden, relative_to_largest, test_case

STEPS = 100
SHAPES = {"0.matrix": (17, 9), "1.image": (4, 3, 3, 3), "2.bias": (37,), "3.scalar": (),
          "4.sometimes": (6, 5), "5.never": (3,), "6.last": (33,)}
STATE = {"momentum_buffer": "momentum", "exp_avg": "first", "exp_avg_sq": "second",
         "max_exp_avg_sq": "largest", "step": "steps"}


def inputs(case, steps=STEPS):
    generator = torch.Generator().manual_seed(7)
    dtype = getattr(torch, case.get("dtype", "float32"))

    def random(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    tensors = {}
    for name, shape in SHAPES.items():
        tensors["weight/" + name] = random(*shape).to(dtype)
        # Of all sizes, so that the constants beside them matter; some exactly 0 and -0.
        size = 10.0 ** (2 * random(steps, *shape) - 3)
        gradients = random(steps, *shape) * size
        gradients[random(steps, *shape) > 1.5] = -0.0
        tensors["gradients/" + name] = gradients.to(dtype)
    tensors["rates"] = torch.linspace(0.1, 0.001, steps, dtype=torch.float64)
    has_gradient = torch.ones(steps, len(SHAPES), dtype=torch.bool)
    # Late: not from the start, which Python's fused SGD with momentum cannot do.
    has_gradient[:, 4] = torch.arange(steps) % 3 == case.get("late", 0)
    has_gradient[:, 5] = False
    return {**tensors, "has_gradient": has_gradient}


def make_optimizer(case, weights, how):
    """As the subject makes it: the last weight in a group of its own, without decay."""
    groups = [{"params": weights[:-1], "weight_decay": case.get("decay", 0.0)},
              {"params": weights[-1:], "weight_decay": 0.0}]
    maximize = bool(case.get("maximize", 0))
    if case["rule"] == "sgd":
        return torch.optim.SGD(groups, lr=0.1, momentum=case.get("momentum", 0.0),
                               nesterov=bool(case.get("nesterov", 0)), maximize=maximize, **how)
    rule = torch.optim.Adam if case["rule"] == "adam" else torch.optim.AdamW
    return rule(groups, lr=0.1, betas=(case.get("beta1", 0.9), case.get("beta2", 0.999)),
                eps=case.get("epsilon", 1e-8), amsgrad=bool(case.get("amsgrad", 0)),
                maximize=maximize, **how)


def state_of(optimizer, stepped, case):
    """Python's state by the subject's names; of what never stepped, what ours starts with."""
    tensors = {}
    for name, weight in stepped.items():
        state = optimizer.state[weight]
        zeros = torch.zeros_like(weight)
        if case["rule"] != "sgd" and not state:
            state = {"exp_avg": zeros, "exp_avg_sq": zeros, "step": torch.tensor(0.0),
                     **({"max_exp_avg_sq": zeros} if case.get("amsgrad") else {})}
        if case.get("momentum") and state.get("momentum_buffer") is None:
            state = {"momentum_buffer": -zeros}
        for theirs, ours in STATE.items():
            if state.get(theirs) is not None:
                tensors[f"{ours}/{name}"] = state[theirs]
    return tensors


def by_python(how):
    def reference(case, tensors):
        weights = {name: tensors["weight/" + name].clone() for name in SHAPES}
        masters = weights
        if case.get("master_weights"):
            masters = {name: weight.float() for name, weight in weights.items()}
        optimizer = make_optimizer(case, list(masters.values()), how)
        for step in range(len(tensors["rates"])):
            for group in optimizer.param_groups:
                group["lr"] = float(tensors["rates"][step])
            for index, (name, master) in enumerate(masters.items()):
                gradient = tensors["gradients/" + name][step].to(master.dtype)
                master.grad = gradient.clone() if tensors["has_gradient"][step, index] else None
            optimizer.step()
            for name, weight in weights.items():
                weight.copy_(masters[name])
        found = state_of(optimizer, masters, case)
        found.update({"weight/" + name: weight for name, weight in weights.items()})
        if case.get("master_weights"):
            found.update({"master/" + name: master for name, master in masters.items()})
        return found
    return reference


RULES = {
    "sgd": {"rule": "sgd", "decay": 0.01},
    "sgd momentum": {"rule": "sgd", "momentum": 0.9, "decay": 0.01},
    "sgd nesterov": {"rule": "sgd", "momentum": 0.9, "nesterov": 1, "decay": 0.01},
    "adam": {"rule": "adam", "decay": 0.01},
    "adamw": {"rule": "adamw", "decay": 0.1},
    "adamw other constants": {"rule": "adamw", "decay": 0.1, "beta1": 0.8, "beta2": 0.95,
                              "epsilon": 1e-3},
}


def with_settings(rules, **settings):
    return {f"{name} {' '.join(map(str, settings.values()))}": {**RULES[name], **settings}
            for name in rules}


SGD = [name for name, case in RULES.items() if case["rule"] == "sgd"]
ADAM = [name for name in RULES if name not in SGD]
VARIANTS = {
    **with_settings(ADAM, dtype="bfloat16"),
    **with_settings(ADAM, dtype="float16", epsilon=1e-4),
    **with_settings(RULES, maximize=1),
    **with_settings(RULES, decay=0.0),
    "amsgrad": {**RULES["adamw"], "amsgrad": 1},
    "adam amsgrad": {**RULES["adam"], "amsgrad": 1, "maximize": 1},
    "masters of bfloat16": {**RULES["adamw"], "dtype": "bfloat16", "master_weights": 1},
    "masters of float16": {**RULES["sgd nesterov"], "dtype": "float16", "master_weights": 1},
}
# Python's fused SGD is broken for these on the CPU: pytorch/pytorch#191763.
NARROW_SGD = {**with_settings(SGD, dtype="bfloat16"), **with_settings(SGD, dtype="float16"),
              **with_settings(SGD, dtype="bfloat16", maximize=1)}
DEVIATIONS = ("epsilon_inside_root", "no_bias_correction", "steps_ahead", "swapped_betas",
              "coupled_decay", "nesterov_ignored", "rate_in_momentum")
FUSED = by_python({"fused": True})
SINGLE = by_python({"foreach": False, "fused": False})
FOREACH = by_python({"foreach": True, "fused": False})
REASON = "PyTorch's fused kernels group and contract the same formula otherwise"

GOLDENS = [
    Golden("G3", "optimizers are torch.optim fused", "optimizers",
           {**RULES, **with_settings(RULES, dtype="float64")}, inputs, FUSED, DEVIATIONS),
    Golden("G4", "optimizers are torch.optim one tensor at a time", "optimizers",
           with_settings(RULES, late=1), inputs, SINGLE, DEVIATIONS,
           measure=relative_to_largest, bound=2e-6, reason=REASON),
    Golden("G4d", "optimizers are torch.optim one tensor at a time, in float64", "optimizers",
           with_settings(RULES, late=1, dtype="float64"), inputs, SINGLE, DEVIATIONS,
           measure=relative_to_largest, bound=1e-14, reason=REASON),
    Golden("G5", "low precision, masters, amsgrad, maximize and no decay are torch.optim fused",
           "optimizers", VARIANTS, inputs, FUSED,
           ("epsilon_inside_root", "master_from_weights", "nesterov_ignored")),
    Golden("G5s", "SGD of low-precision weights is torch.optim foreach", "optimizers", NARROW_SGD,
           inputs, FOREACH, ("nesterov_ignored", "rate_in_momentum")),
]
Goldens = test_case(GOLDENS)

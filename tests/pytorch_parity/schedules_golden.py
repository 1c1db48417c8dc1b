"""Learning-rate schedules against torch.optim.lr_scheduler and against closed forms."""

import math
import warnings

import torch
from torch.optim import lr_scheduler

from tests.pytorch_parity.golden import Golden, relative, test_case

COUNT = 10_000

# What Python's scheduler of the same settings is; the factor of a base rate of 1.
SCHEDULERS = {
    "constant": lambda o, c: lr_scheduler.ConstantLR(o, factor=1.0, total_iters=1),
    "step": lambda o, c: lr_scheduler.StepLR(o, c["step_size"], c["gamma"]),
    "linear": lambda o, c: lr_scheduler.LinearLR(o, c["start_factor"], c["end_factor"],
                                                 c["horizon"]),
    "cosine": lambda o, c: lr_scheduler.CosineAnnealingLR(o, c["horizon"], c.get("floor", 0.0)),
    "one_cycle": lambda o, c: lr_scheduler.OneCycleLR(
        o, max_lr=1.0, total_steps=c["horizon"], pct_start=c.get("peak_fraction", 0.3),
        div_factor=c.get("div_factor", 25.0), final_div_factor=c.get("final_div_factor", 1e4)),
    "exponential": lambda o, c: lr_scheduler.ExponentialLR(o, c["gamma"]),
    "multi_step": lambda o, c: lr_scheduler.MultiStepLR(o, milestones_of(c), c["gamma"]),
    "polynomial": lambda o, c: lr_scheduler.PolynomialLR(o, c["horizon"], c["power"]),
    "cosine_restarts": lambda o, c: lr_scheduler.CosineAnnealingWarmRestarts(
        o, c["restart_period"], c["restart_factor"], c.get("floor", 0.0)),
}
WARMUPS = {
    "from_factor": lambda o, c: lr_scheduler.LinearLR(o, c["warmup_factor"], 1.0,
                                                      c["warmup_steps"]),
    "from_zero": lambda o, c: lr_scheduler.LambdaLR(o, lambda t: t / c["warmup_steps"]),
    "from_first": lambda o, c: lr_scheduler.LambdaLR(o, lambda t: (t + 1) / c["warmup_steps"]),
}


def milestones_of(c):
    return [int(word) for word in c["milestones"].split(",")]


def case(shape, horizon=COUNT, count=COUNT, **settings):
    return {"shape": shape, "horizon": horizon, "count": count, **settings}


# Never beyond the horizon of a recursion: there Python rises again, or has an error.
SCHEDULER_CASES = {
    "constant": case("constant"),
    "step 1000": case("step", step_size=1000, gamma=0.5),
    "step 37": case("step", step_size=37, gamma=0.97),
    "step 1": case("step", step_size=1, gamma=0.9995),
    "linear down": case("linear", start_factor=1.0, end_factor=0.0),
    "linear up": case("linear", horizon=7000, start_factor=0.25, end_factor=1.0),
    "linear to 0.1": case("linear", horizon=333, start_factor=1.0, end_factor=0.1),
    "cosine": case("cosine"),
    "cosine to 0.1": case("cosine", floor=0.1),
    "cosine of 12345": case("cosine", horizon=12345, floor=0.01),
    "one-cycle": case("one_cycle"),
    "one-cycle early": case("one_cycle", peak_fraction=0.05, div_factor=10.0),
    "one-cycle late": case("one_cycle", peak_fraction=0.5, final_div_factor=100.0),
    "linear warm-up, cosine": case("cosine", horizon=9000, warmup="from_factor",
                                   warmup_steps=1000, warmup_factor=0.01),
    "zero warm-up, cosine": case("cosine", horizon=9500, warmup="from_zero", warmup_steps=500),
    "exponential": case("exponential", gamma=0.9995),
    "multi-step": case("multi_step", gamma=0.3, milestones="100,2500,2501,9000"),
    "polynomial": case("polynomial", power=2.0, count=9999),
    "polynomial, half": case("polynomial", horizon=700, power=0.5, count=699),
    "restarts": case("cosine_restarts", restart_period=700, restart_factor=1),
    "longer restarts": case("cosine_restarts", restart_period=100, restart_factor=2, floor=0.05),
    "first warm-up, step": case("step", step_size=900, gamma=0.3, warmup="from_first",
                                warmup_steps=77),
}


def no_inputs(_):
    return {}


def by_scheduler(settings, _):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0, momentum=0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the optimizer does not step
        main = SCHEDULERS[settings["shape"]](optimizer, settings)
        if "warmup" in settings:
            warmup = WARMUPS[settings["warmup"]](optimizer, settings)
            main = lr_scheduler.SequentialLR(optimizer, [warmup, main], [settings["warmup_steps"]])
        factors = []
        for step in range(settings["count"]):
            factors.append(optimizer.param_groups[0]["lr"])
            if step + 1 < settings["count"]:
                main.step()
    return {"factors": torch.tensor(factors, dtype=torch.float64)}


def one_cycle(c, t):
    start, last = 1 / c.get("div_factor", 25.0), c["horizon"] - 1
    peak = c.get("peak_fraction", 0.3) * c["horizon"] - 1
    low, high, progress = start, 1.0, min(t, last) / peak
    if min(t, last) > peak:
        low, high = 1.0, start / c.get("final_div_factor", 1e4)
        progress = (min(t, last) - peak) / (last - peak)
    return high + (low - high) / 2.0 * (math.cos(math.pi * progress) + 1)


def cooldown(c, t):
    length = round(c["cooldown_fraction"] * c["horizon"])
    progress = min(max(t - (c["horizon"] - length), 0) / length, 1.0)
    left = {"linear": 1 - progress, "one_minus_sqrt": 1 - math.sqrt(progress),
            "cosine": (1 + math.cos(math.pi * progress)) / 2}[c["cooldown_form"]]
    return c.get("floor", 0.0) + (1 - c.get("floor", 0.0)) * left


FORMS = {
    "step": lambda c, t: c["gamma"] ** (t // c["step_size"]),
    "linear": lambda c, t: (c["start_factor"] + (c["end_factor"] - c["start_factor"])
                            * min(t, c["horizon"]) / c["horizon"]),
    "cosine": lambda c, t: (c.get("floor", 0.0) + (1 - c.get("floor", 0.0))
                            * (1 + math.cos(math.pi * min(t, c["horizon"]) / c["horizon"])) / 2),
    "one_cycle": one_cycle,
    "cooldown": cooldown,
    "exponential": lambda c, t: c["gamma"] ** t,
    "multi_step": lambda c, t: c["gamma"] ** sum(t >= milestone for milestone in milestones_of(c)),
    "polynomial": lambda c, t: (1 - min(t, c["horizon"]) / c["horizon"]) ** c["power"],
    "inverse_sqrt": lambda c, t: math.sqrt(c.get("warmup_steps", 1) / (c.get("warmup_steps", 1) + t)),
}
WARMUP_FORMS = {
    "from_first": lambda c, t: (t + 1) / c["warmup_steps"],
    "from_zero": lambda c, t: t / c["warmup_steps"],
    "from_factor": lambda c, t: (c["warmup_factor"]
                                 + (1 - c["warmup_factor"]) * t / c["warmup_steps"]),
}

# All go on beyond the horizon, where the shape must stay where it ended.
CLOSED_FORM_CASES = {
    "step": case("step", step_size=700, gamma=0.7),
    "linear": case("linear", horizon=6000, start_factor=1.0, end_factor=0.05),
    "cosine": case("cosine", horizon=6000, floor=0.1),
    "one-cycle": case("one_cycle", horizon=6001, peak_fraction=0.25),
    "cooldown linear": case("cooldown", horizon=6000, cooldown_fraction=0.2, floor=0.05,
                            cooldown_form="linear"),
    "cooldown 1-sqrt": case("cooldown", horizon=6000, cooldown_fraction=0.4,
                            cooldown_form="one_minus_sqrt"),
    "cooldown cosine": case("cooldown", horizon=6000, cooldown_fraction=1.0,
                            cooldown_form="cosine"),
    "exponential": case("exponential", gamma=0.999),
    "multi-step": case("multi_step", gamma=0.5, milestones="3,7000"),
    "polynomial": case("polynomial", horizon=6000, power=1.5),
    "inverse square root": case("inverse_sqrt"),
    "zero warm-up, inverse square root": case("inverse_sqrt", warmup="from_zero", warmup_steps=321),
    "first warm-up, cosine": case("cosine", horizon=6000, warmup="from_first", warmup_steps=321),
    "zero warm-up, linear": case("linear", horizon=6000, start_factor=0.9, end_factor=0.1,
                                 warmup="from_zero", warmup_steps=321),
    "linear warm-up, cooldown": case("cooldown", horizon=6000, cooldown_fraction=0.3,
                                     cooldown_form="cosine", warmup="from_factor",
                                     warmup_steps=321, warmup_factor=0.125),
}


def by_closed_form(c, _):
    warmup_steps = c.get("warmup_steps", 0)
    factors = [WARMUP_FORMS[c["warmup"]](c, t) if t < warmup_steps
               else FORMS[c["shape"]](c, t - warmup_steps) for t in range(c["count"])]
    return {"factors": torch.tensor(factors, dtype=torch.float64)}


PLATEAUS = {
    "plateau": {},
    "impatient plateau": {"factor": 0.5, "patience": 2, "threshold": 0.05},
    "plateau with cooldown": {"factor": 0.7, "patience": 1, "cooldown": 4},
    "plateau at once": {"factor": 0.9, "patience": 0, "threshold": 0.0},
}


def losses(_):
    generator = torch.Generator().manual_seed(3)
    falling = 2.0 * 0.97 ** torch.arange(200, dtype=torch.float64)
    noisy = falling + 0.3 * torch.rand(200, generator=generator, dtype=torch.float64)
    noisy[50], noisy[120] = math.inf, math.nan
    return {"losses": noisy}


def by_reduction(c, tensors):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, factor=c.get("factor", 0.1), patience=c.get("patience", 10),
                                               threshold=c.get("threshold", 1e-4), cooldown=c.get("cooldown", 0), eps=0)
    factors = []
    for loss in tensors["losses"].tolist():
        scheduler.step(loss)
        factors.append(optimizer.param_groups[0]["lr"])
    return {"factors": torch.tensor(factors, dtype=torch.float64)}


GOLDENS = [
    Golden("G1", "schedules follow torch.optim.lr_scheduler", "schedules", SCHEDULER_CASES,
           no_inputs, by_scheduler, ("one_ahead", "held", "long_horizon", "main_not_shifted"),
           measure=relative, bound=1e-12,
           reason="Python's are recursions, whose roundings add up over 10,000 updates"),
    Golden("G2", "schedules are their closed forms, also beyond the horizon", "schedules",
           CLOSED_FORM_CASES, no_inputs, by_closed_form,
           ("one_ahead", "held", "long_horizon", "rises_again", "main_not_shifted")),
    Golden("G2p", "plateau is ReduceLROnPlateau", "plateaus", PLATEAUS, losses, by_reduction,
           ({"patience": 3}, {"threshold": 0.2}, {"cooldown": 9})),
]
Goldens = test_case(GOLDENS)

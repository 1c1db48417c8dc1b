"""The loss scaler against torch.amp.GradScaler: its trace, its errors, and the steps it skips."""

import itertools
import math

import torch

from tests.pytorch_parity.golden import Golden, drawn, test_case
from tests.pytorch_parity.optimizers_golden import RULES, SHAPES, make_optimizer, state_of
from tests.pytorch_parity.optimizers_golden import inputs as optimizer_inputs

STEPS = 5000


def make_scaler(case):
    return torch.amp.GradScaler("cpu", case.get("initial_scale", 65536.0),
                                case.get("growth_factor", 2.0), case.get("backoff_factor", 0.5),
                                case.get("growth_interval", 2000))


def spoiling(generator, shape, probability):
    """0 almost everywhere; inf, -inf or NaN elsewhere."""
    spoilt = torch.zeros(shape)
    hits = torch.rand(shape, generator=generator) < probability
    kinds = torch.tensor([math.inf, -math.inf, math.nan])
    spoilt[hits] = kinds[torch.randint(3, (int(hits.sum()),), generator=generator)]
    return spoilt


def trace_inputs(case):
    generator = torch.Generator().manual_seed(17)
    return {"start": torch.randn(5, generator=generator),
            "slope": case.get("slope", 1.0) * torch.randn(5, generator=generator),
            "spoilt": spoiling(generator, (STEPS, 2), case["probability"])}


def trace(case, tensors):
    scaler = make_scaler(case)
    weights = [torch.nn.Parameter(tensors["start"].clone()) for _ in range(2)]
    optimizers = [torch.optim.SGD([weight], lr=0.1) for weight in weights]
    steps = [0, 0]

    def counting(index, step):
        def counted():
            steps[index] += 1
            return step()
        return counted

    for index, optimizer in enumerate(optimizers):
        optimizer.step = counting(index, optimizer.step)
    scales, trackers, stepped = [], [], []
    for spoilt in tensors["spoilt"]:
        before = list(steps)
        for weight, optimizer, addition in zip(weights, optimizers, spoilt):
            weight.grad = None
            scaler.scale((weight * tensors["slope"]).sum()).backward()
            weight.grad.add_(addition)
            scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
        trackers.append(scaler._get_growth_tracker())
        stepped.append([after - was for after, was in zip(steps, before)])
    return {"scales": torch.tensor(scales, dtype=torch.float64),
            "trackers": torch.tensor(trackers), "stepped": torch.tensor(stepped),
            "weight/0": weights[0], "weight/1": weights[1]}


TRACES = {
    "interval 5": {"growth_interval": 5, "probability": 0.07},
    "interval 50": {"growth_interval": 50, "probability": 0.007},
    "defaults": {"probability": 0.0005},
    "other factors": {"growth_interval": 3, "growth_factor": 1.7, "backoff_factor": 0.3,
                      "probability": 0.2},
    # The scale itself makes the infs: it climbs until the gradients overflow.
    "overflow": {"initial_scale": 1e30, "growth_interval": 7, "probability": 0.0, "slope": 10.0},
    # It stops below the largest fp32.
    "growth past fp32": {"initial_scale": 1e38, "growth_interval": 2, "probability": 0.001,
                         "slope": 1e-30},
}

# 0 scale, 1 unscale, 2 step, 3 update, 4 gradients set to none.
CALLS = 5
LENGTH = 5


def call_inputs(case):
    sequences = torch.tensor(list(itertools.product(range(CALLS), repeat=LENGTH)))
    return {"calls": sequences, "start": torch.ones(2, dtype=getattr(torch, case["dtype"]))}


def first_failures(case, tensors):
    failed = []
    for sequence in tensors["calls"].tolist():
        scaler = make_scaler(case)
        weight = torch.nn.Parameter(tensors["start"].clone())
        weight.grad = torch.ones_like(weight)
        optimizer = torch.optim.SGD([weight], lr=0.1)
        calls = [lambda: scaler.scale(torch.ones(())), lambda: scaler.unscale_(optimizer),
                 lambda: scaler.step(optimizer), scaler.update, optimizer.zero_grad]
        failed.append(-1)
        for index, call in enumerate(sequence):
            try:
                calls[call]()
            except (AssertionError, RuntimeError, ValueError):
                failed[-1] = index
                break
    return {"failed": torch.tensor(failed)}


def step_inputs(case):
    tensors = optimizer_inputs(case, steps=300)
    tensors["spoilt"] = spoiling(torch.Generator().manual_seed(19), (300,), 0.1)
    return tensors


def unfused_steps(case, tensors):
    """Each spoilt step left out as a whole, by the scaler; never by a kernel."""
    scaler = make_scaler(case)
    weights = {name: torch.nn.Parameter(tensors["weight/" + name].clone()) for name in SHAPES}
    optimizer = make_optimizer(case, list(weights.values()), {"fused": True})
    optimizer._step_supports_amp_scaling = False  # the scaler's own skip with the fused kernels
    scales = []
    for step, spoilt in enumerate(tensors["spoilt"]):
        scaler.scale(torch.ones(()))
        for name, weight in weights.items():
            weight.grad = tensors["gradients/" + name][step] * scaler.get_scale() + spoilt
        for group in optimizer.param_groups:
            group["lr"] = float(tensors["rates"][step])
        if case.get("clip"):
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(weights.values(), case["clip"])
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    return {"scales": torch.tensor(scales, dtype=torch.float64),
            **{"weight/" + name: weight for name, weight in weights.items()},
            **state_of(optimizer, weights, case)}


SKIPS = {f"{name}, {clipped}, {fused}": {**rule, "growth_interval": 20, "clip": clip,
                                         "fused": int(fused == "fused")}
         for name, rule in RULES.items() for clipped, clip in {"clipped": 1.0, "plain": 0}.items()
         for fused in ("fused", "unfused")}

GOLDENS = [
    Golden("G7", "the scaler's scale, tracker and skipped steps are GradScaler's", "scaler_trace",
           TRACES, trace_inputs, trace,
           ("tracker_not_reset", "no_backoff", "grows_early", "skips_nothing")),
    Golden("G7e", "the scaler refuses the calls that GradScaler refuses", "scaler_calls",
           {dtype: {"dtype": dtype} for dtype in ("float32", "float16")}, call_inputs,
           first_failures, ("unscales_again",)),
    Golden("G8", "scaled, clipped and skipped steps are those of PyTorch, fused or not",
           "scaled_steps", SKIPS, step_inputs, unfused_steps,
           ("skips_nothing", "no_backoff", "unscales_again", {"clip": 0.5})),
]
Goldens = test_case(drawn(GOLDENS, 3))

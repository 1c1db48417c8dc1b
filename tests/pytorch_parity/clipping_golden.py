"""Gradient clipping against torch.nn.utils and against the formula of adaptive clipping."""

import math

import torch

from tests.pytorch_parity.golden import Golden, test_case

SHAPES = {"matrix": (17, 9), "image": (4, 3, 3, 3), "bias": (37,), "zero": (5, 4), "scalar": ()}


def inputs(case):
    generator = torch.Generator().manual_seed(11)
    tensors = {}
    for name, shape in SHAPES.items():
        weight = torch.randn(shape, generator=generator)
        gradient = case.get("size", 1.0) * torch.randn(shape, generator=generator)
        gradient[torch.rand(shape, generator=generator) < 0.1] = 0.0
        tensors["weight/" + name] = torch.zeros(shape) if name == "zero" else weight
        tensors["gradient/" + name] = gradient
    return tensors


def by_torch(case, tensors):
    parameters = {}
    for name in sorted(SHAPES):  # the subject's order
        parameters[name] = torch.nn.Parameter(tensors["weight/" + name].clone())
        parameters[name].grad = tensors["gradient/" + name].clone()
    found = {}
    if case["kind"] == "norm":
        found["norm"] = torch.nn.utils.clip_grad_norm_(parameters.values(), case["bound"],
                                                       case.get("p", 2.0))
    else:
        torch.nn.utils.clip_grad_value_(parameters.values(), case["bound"])
    return {**found, **{"gradient/" + name: p.grad for name, p in parameters.items()}}


def unit_norms(tensor):
    return tensor.norm() if tensor.ndim <= 1 else torch.linalg.vector_norm(
        tensor, dim=tuple(range(1, tensor.ndim)), keepdim=True)


def by_formula(case, tensors):
    """Brock et al. 2021: where |g| / max(|w|, floor) is above the bound, g comes down to it."""
    found = {}
    for name in SHAPES:
        weight, gradient = tensors["weight/" + name], tensors["gradient/" + name]
        allowed = unit_norms(weight).clamp_min(case.get("floor", 1e-3)) * case["bound"]
        factor = allowed / unit_norms(gradient)
        found["gradient/" + name] = torch.where(factor < 1, gradient * factor, gradient)
    return found


NORMS = {f"p {p}, {where}": {"kind": "norm", "p": p, "bound": bound}
         for p in (2.0, 1.0, math.inf, 0.0, 3.0)
         for where, bound in {"above": 1.7, "below": 1e5}.items()}
NORMS["small gradients"] = {"kind": "norm", "bound": 1e-5, "size": 1e-6}

GOLDENS = [
    Golden("G6", "clipping by norm is clip_grad_norm_", "clipping", NORMS, inputs, by_torch,
           ("no_epsilon", "always_rescales", "per_tensor_norm")),
    Golden("G6v", "clipping by value is clip_grad_value_", "clipping",
           {"value 0.5": {"kind": "value", "bound": 0.5}, "value 9": {"kind": "value", "bound": 9}},
           inputs, by_torch, ({"bound": 0.25},)),
    Golden("G6a", "adaptive clipping is its formula, with a floor for weights of 0", "clipping",
           {"bound 0.01": {"kind": "adaptive", "bound": 0.01},
            "bound 0.5": {"kind": "adaptive", "bound": 0.5, "floor": 0.1},
            "nothing clipped": {"kind": "adaptive", "bound": 1e6}},
           inputs, by_formula, ("no_floor",)),
]
Goldens = test_case(GOLDENS)

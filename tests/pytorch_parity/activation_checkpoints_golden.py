"""Activation checkpoints against the plain block, torch.utils.checkpoint, finite differences."""

import contextlib
import warnings

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from tests.pytorch_parity.golden import Golden, Subject, absolute, test_case

WIDTH = 12
# Of the inner one of two nested, which the outer one first runs without gradients.
warnings.filterwarnings("ignore", message="None of the inputs have requires_grad=True")


def inputs(case):
    generator = torch.Generator().manual_seed(29)
    dtype = getattr(torch, case.get("dtype", "float32"))
    return {name: torch.randn(rows, WIDTH, generator=generator).to(dtype)
            for name, rows in {"x": 7, "first": WIDTH, "second": WIDTH}.items()}


def half(weight):
    return lambda x: F.dropout(F.linear(x, weight).tanh(), 0.3, training=True)


def by_python(wrap):
    """`wrap(block, x)` runs a block; once around both halves, and around each in `nested` mode."""
    def reference(case, tensors):
        leaves = {name: tensor.clone().requires_grad_() for name, tensor in tensors.items()}
        leaves["x"].requires_grad_(bool(case["input_gradient"]))
        lower, upper = half(leaves["first"]), half(leaves["second"])
        inner = wrap if case["mode"] == "nested" else lambda block, x: block(x)
        autocast = contextlib.nullcontext()
        if case["type"] != "float32":
            autocast = torch.autocast("cpu", getattr(torch, case["type"]))
        torch.manual_seed(case["seed"])
        with autocast:
            output = wrap(lambda x: inner(upper, inner(lower, x)), leaves["x"])
            loss = output.float().square().mean()
        loss.backward()
        gradients = {name: leaf.grad for name, leaf in leaves.items() if leaf.grad is not None}
        return {"loss": loss, "after": torch.rand(16), **gradients}
    return reference


def case(mode, type_name, input_gradient):
    return {"mode": mode, "type": type_name, "input_gradient": input_gradient, "seed": 31}


CASES = {f"{mode}, {type_name}, {'with' if grad else 'without'} input gradient":
         case(mode, type_name, grad) for mode in ("checkpointed", "nested")
         for type_name in ("float32", "bfloat16", "float16") for grad in (1, 0)}
# Python's re-entrant form gives no gradients at all if the input needs none.
PYTHON_CASES = {name: case for name, case in CASES.items() if case["input_gradient"]}
DEVIATIONS = ("autocast_lost", "other_randomness")


def plain_subject(case, tensors):
    return Subject.run("checkpoints", {**case, "mode": "plain"}, tensors)


def finite_differences(case, tensors):
    return Subject.run("checkpoint_slopes", {**case, "finite": 1}, tensors)


SLOPES = {mode: {"mode": mode, "dtype": "float64", "seed": 37}
          for mode in ("plain", "checkpointed", "nested")}

GOLDENS = [
    Golden("G15", "a checkpointed block has the plain block's gradients", "checkpoints", CASES,
           inputs, plain_subject, DEVIATIONS),
    Golden("G15p", "a plain block of Python has the gradients of a checkpointed one", "checkpoints",
           CASES, inputs, by_python(lambda block, x: block(x)), DEVIATIONS),
    Golden("G15c", "a checkpointed block is torch.utils.checkpoint's, random state included",
           "checkpoints", PYTHON_CASES, inputs,
           by_python(lambda block, x: checkpoint(block, x, use_reentrant=True)), DEVIATIONS),
    Golden("G31", "a checkpointed block's gradients are its finite differences, in float64",
           "checkpoint_slopes", SLOPES, inputs, finite_differences, ("other_randomness",),
           measure=absolute, bound=1e-6,
           reason="a central difference of step 1e-5 errs by about 1e-9 here"),
]
Goldens = test_case(GOLDENS)

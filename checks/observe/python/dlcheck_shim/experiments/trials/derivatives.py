"""GRAD: the backward that a program writes for a function of its own gives the slope of its forward.

Measured in double precision along one direction: (f(x + hd) - f(x - hd)) / 2h against what backward
gives, for two h, whose difference says how well the slope is known. What a backward may give on purpose
that is no slope is passed over: where forward hands its input on (a reversed or clipped gradient), is
flat, or gives few values (rounding, signs, nearest codes, straight-through).
"""

import torch

from ...torch_api.capabilities import is_compiling
from .capture import FIRST_STEP, mapped

MOST_FUNCTIONS, MOST_ELEMENTS = 16, 1 << 20
STEP = 1e-4  # in units of the inputs' own size
FEWEST_CHANGED = 0.99  # share of an output's elements that are not the input's own
FEWEST_VALUES = 0.9  # different values of an output, a share of those of its input


class Derivatives:
    def __init__(self, watch):
        self.watch, self.calls = watch, {}

    def begin(self):
        function = torch.autograd.Function
        original = vars(function).get("apply")
        if not isinstance(original, classmethod):
            return

        def apply(cls, *args, **kwargs):
            if not kwargs and self.is_wanted(cls):
                self.calls[cls] = mapped(args, copied)
            return original.__func__(cls, *args, **kwargs)

        function.apply = classmethod(apply)

    def is_wanted(self, function):
        """The first call in a step of each function that the program itself defines."""
        if is_compiling() or function in self.calls or not torch.is_grad_enabled():
            return False
        if self.watch.recorder.step < FIRST_STEP or self.watch.guard.elsewhere():
            return False
        return len(self.calls) < MOST_FUNCTIONS and not function.__module__.startswith("torch.")

    def take(self):
        calls, self.calls = self.calls, {}
        return calls


def copied(tensor):
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


def try_function(recorder, function, args, randomness):
    """Writes how far the backward is from the slope; why it cannot be told, where that is so."""
    thing = recorder.thing("function", 0, function.__qualname__)
    try:
        found = compare(function, args, randomness, recorder.step)
    except Exception as error:  # the program's own code, in a precision that it did not ask for
        found = f"{type(error).__name__}: {error}"
    if isinstance(found, str):
        recorder.attribute(thing, "untried", found)
        return
    ratio, error, rounding = found
    code = getattr(function.backward, "__code__", None)
    site = recorder.writer.site(code.co_filename, code.co_firstlineno, code.co_name) if code else 0
    recorder.quantity("backward_error", thing, error, rounding, site)
    recorder.quantity("backward_ratio", thing, ratio, 0.0, site)


def compare(function, args, randomness, seed):
    """(backward over slope, their difference, uncertainty of the slope; both of the slope)."""
    inputs = mapped(args, widened)
    varied = []
    mapped(inputs, lambda t: varied.append(t) or t if t.requires_grad else t)
    if not varied or sum(t.numel() for t in varied) > MOST_ELEMENTS:
        return "no small enough input requires a gradient"
    draw = torch.Generator().manual_seed(seed)
    outputs = evaluate(function, inputs, randomness)
    if not outputs or any(t.dtype != torch.float64 for t in outputs):
        return "its outputs are not in double precision where its inputs are"
    if any(hands_on(t, given) for t in outputs for given in varied):
        return "its forward hands its input on"
    most = max(t.unique().numel() for t in varied)
    if any(t.unique().numel() < FEWEST_VALUES * min(most, t.numel()) for t in outputs):
        return "its forward gives few different values"
    weights = [random_like(t, draw) for t in outputs]
    directions = [random_like(t, draw) * size_of(t) for t in varied]
    total = sum((t * w).sum() for t, w in zip(outputs, weights))
    gradients = torch.autograd.grad(total, varied, allow_unused=True)
    given = sum((g.double() * d).sum() for g, d in zip(gradients, directions) if g is not None)

    def slope(step):
        ends = []
        for sign in (1, -1):
            moved = iter([t.detach() + sign * step * d for t, d in zip(varied, directions)])
            there = mapped(inputs, lambda t: next(moved) if t.requires_grad else t)
            with torch.no_grad():
                ends.append(evaluate(function, there, randomness))
        return float(sum(((a - b) * w).sum() for a, b, w in zip(*ends, weights)) / (2 * step))

    coarse, fine, given = slope(STEP), slope(STEP / 2), float(given)
    if fine == 0 or not all(map(is_finite, (coarse, fine, given))):
        return "its forward is flat there, or not finite"
    return given / fine, abs(given - fine) / abs(fine), abs(coarse - fine) / abs(fine)


def evaluate(function, inputs, randomness):
    """The floating-point outputs, under the same random numbers each time; inputs are not written to."""
    randomness.restore()
    made = function.apply(*mapped(inputs, lambda t: t * 1 if t.requires_grad else t.clone()))
    outputs = made if isinstance(made, tuple) else (made,)
    return [t for t in outputs if isinstance(t, torch.Tensor) and t.is_floating_point()
            and (t.requires_grad or not torch.is_grad_enabled())]  # fmt: skip


def widened(tensor):
    if not tensor.is_floating_point():
        return tensor
    return tensor.detach().double().requires_grad_(tensor.requires_grad)


def hands_on(output, given):
    """True where a part of the output is the input's own, as behind a bound or a mask."""
    if output.shape != given.shape:
        return False
    return float((output != given).double().mean()) < FEWEST_CHANGED


def random_like(tensor, draw):
    return torch.randn(tensor.shape, generator=draw, dtype=torch.float64).to(tensor.device)


def size_of(tensor):
    """Root mean square of its elements, 1 where all are zero."""
    return float(tensor.detach().square().mean().sqrt()) or 1.0


def is_finite(number):
    return number - number == 0

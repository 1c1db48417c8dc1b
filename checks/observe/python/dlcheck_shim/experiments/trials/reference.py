"""REF: what is called under the name of a function of torch.nn.functional gives what its formula gives, and
the gradient of that.

Worked out on what the program gave it: by the function, and by the formula in double precision, in the
precision of the outputs, and for inputs moved by their own rounding; the distances between those say what
rounding explains.
"""

import functools
import inspect

import torch
import torch.nn.functional as F

from ...torch_api import tensors
from ...torch_api.capabilities import is_compiling, is_in_autocast, tracing_state
from .bench import distance
from .capture import FIRST_STEP, leaves, mapped
from .formulas import attention, cross_entropy

ATTENTION, DROPOUT = "scaled_dot_product_attention", 4  # the place of its chance of dropout
FORMULAS = {"cross_entropy": cross_entropy, ATTENTION: attention}
MOST_CALLS, MOST_ELEMENTS = 2, 1 << 20  # of each function in a step; of what it is given and works out


class Called:
    """One call of a function: copies of what it was given, and how it was called."""

    def __init__(self, name, function, args, kwargs, site):
        self.name, self.function, self.site = name, function, site
        self.args, self.kwargs = mapped((args, kwargs), copied)
        self.device = next(t for t in leaves((args, kwargs)) if isinstance(t, torch.Tensor)).device.type
        self.autocast = autocast_type(self.device)

    def without_dropout(self):
        """Arguments for a second call, which is to give the same."""
        args, kwargs = self.args, self.kwargs
        if self.name == ATTENTION and len(args) > DROPOUT:
            args = (*args[:DROPOUT], 0.0, *args[DROPOUT + 1:])
        return args, {**kwargs, "dropout_p": 0.0} if "dropout_p" in kwargs else kwargs


class Reference:
    def __init__(self, watch):
        self.watch, self.calls, self.stand_ins = watch, [], {}
        self.under_way = set()  # names: what stands in for a function may call the function itself
        self.keep = watch.guard.isolated("reference", runs_program=True)(self.keep)

    def begin(self):
        self.cover()
        self.watch.moments.stepped.append(self.cover)

    def cover(self):
        """Stands in for what goes by these names now: the program may put its own there."""
        for name in FORMULAS:
            if hasattr(F, name) and getattr(F, name) is not self.stand_ins.get(name):
                self.stand_ins[name] = self.watched(name, getattr(F, name))
                setattr(F, name, self.stand_ins[name])

    def watched(self, name, function):
        def call(*args, **kwargs):
            if not self.is_wanted(name):
                return function(*args, **kwargs)
            self.keep(name, function, args, kwargs)
            self.under_way.add(name)
            try:
                return function(*args, **kwargs)
            finally:
                self.under_way.discard(name)

        functools.update_wrapper(call, function)
        setattr(call, "__script_if_tracing_wrapper", True)
        setattr(call, "__original_fn", function)
        return call

    def is_wanted(self, name):
        if is_compiling() or tracing_state() or not torch.is_grad_enabled():
            return False
        if name in self.under_way:
            return False
        if self.watch.recorder.step < FIRST_STEP or self.watch.guard.elsewhere():
            return False
        return sum(call.name == name for call in self.calls) < MOST_CALLS and tensors.may_compute()

    def keep(self, name, function, args, kwargs):
        if is_moderate(name, leaves((args, kwargs))):
            site = self.watch.losses.sites.current(always=True)
            self.calls.append(Called(name, function, args, kwargs, site))

    def take(self):
        calls, self.calls = self.calls, []
        return calls


def copied(tensor):
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


def is_moderate(name, values):
    given = [value for value in values if isinstance(value, torch.Tensor)]
    if len(given) < 2 or not all(map(tensors.is_readable, given)):
        return False
    elements = max(tensor.numel() for tensor in given)
    if name == ATTENTION:
        query, key = given[:2]
        elements = max(elements, query.numel() // max(1, query.shape[-1]) * key.shape[-2])
    return elements <= MOST_ELEMENTS and any(tensor.requires_grad for tensor in given)


def autocast_type(device):
    if not is_in_autocast(device):
        return None
    try:
        return torch.get_autocast_dtype(device)
    except AttributeError:  # before version 2.4
        return torch.get_autocast_gpu_dtype() if device == "cuda" else torch.get_autocast_cpu_dtype()


def try_reference(recorder, call, randomness):
    """Writes how far the function is from its formula; why it cannot be told, where that is so."""
    thing = recorder.thing("function", 0, call.name)
    own = inspect.unwrap(call.function)
    if not (getattr(own, "__module__", None) or "torch").startswith("torch"):
        recorder.attribute(thing, "stood_in_by", getattr(own, "__qualname__", type(own).__name__))
    try:
        found = compare(call, randomness)
    except Exception as error:  # the program's own code, called out of turn
        found = f"{type(error).__name__}: {error}"
    if isinstance(found, str):
        recorder.attribute(thing, "untried/reference", found)
    else:
        recorder.quantity("reference_error", thing, *found, call.site)


def compare(call, randomness):
    """(distance of the function from the formula, that of the formula from itself in low precision)."""
    arguments = call.without_dropout()
    formula = FORMULAS[call.name]
    randomness.restore()
    with torch.autocast(call.device, enabled=call.autocast is not None, dtype=call.autocast):
        given = worked_out(call.function, arguments, None)
    if given is None:
        return "it returned something other than one floating-point tensor"
    exact = worked_out(formula, arguments, torch.float64)
    shaken = worked_out(formula, mapped(arguments, shake), torch.float64)
    rough = worked_out(formula, arguments, given[0].dtype)
    if [t.shape for t in given] != [t.shape for t in exact]:
        return "its output shape differs from that of the formula"
    if not all(bool(tensor.isfinite().all()) for tensor in exact):
        return "what the formula gives there is not finite"
    eps = max(torch.finfo(tensor.dtype).eps for tensor in given)
    inputs = [None, *varying(arguments)]
    found = []
    for own, right, low, moved, by in zip(given, exact, rough, shaken, inputs):
        rounding = max(distance(right, low), distance(right, moved), eps)
        found.append((distance(right, own), rounding * amplified(call.name, arguments, exact, right, by)))
    return max(found, key=lambda pair: pair[0] / pair[1])


def amplified(name, arguments, exact, gradient, by):
    """How many times its rounding a correct function may be off: softmaxes that are sharp leave of large
    terms a small difference, and gradients that hardly move the output are nothing but that."""
    leaves_of = [t.detach().double() for t in leaves(arguments) if isinstance(t, torch.Tensor)]
    sharp = leaves_of[0].abs().max()
    if name == ATTENTION:
        sharp = leaves_of[0].norm(dim=-1).max() * leaves_of[1].norm(dim=-1).max()
    factor = 1 + float(sharp)
    if by is None:
        return factor
    moves = float(gradient.norm() * by.detach().double().norm())
    output = float(exact[0].norm()) * exact[0].numel() ** 0.5  # its weights are about one
    return factor * max(1.0, output / moves if moves else float("inf"))


def worked_out(function, arguments, dtype):
    """What a function gives, and its gradients by what requires one, in double precision; None for a function
    that gives no such tensor."""
    args, kwargs = mapped(arguments, lambda tensor: converted(tensor, dtype))
    varied = varying((args, kwargs))
    output = function(*args, **kwargs)
    if not isinstance(output, torch.Tensor) or not output.is_floating_point():
        return None
    draw = torch.Generator().manual_seed(output.numel())
    weights = torch.randn(output.shape, generator=draw, dtype=torch.float64).to(output.device)
    gradients = torch.autograd.grad(output, varied, weights.to(output.dtype), allow_unused=True)
    return [output] + [torch.zeros_like(t) if g is None else g for t, g in zip(varied, gradients)]


def shake(tensor):
    """Every other element moved by as much as rounding may have moved it before."""
    if not tensor.is_floating_point():
        return tensor
    signs = torch.arange(tensor.numel(), device=tensor.device).view(tensor.shape) % 2 * 2 - 1
    moved = tensor.detach().double() * (1 + signs * torch.finfo(tensor.dtype).eps)
    return moved.requires_grad_(tensor.requires_grad)


def varying(arguments):
    return [t for t in leaves(arguments) if isinstance(t, torch.Tensor) and t.requires_grad]


def converted(tensor, dtype):
    if dtype is None or not tensor.is_floating_point():
        return copied(tensor)
    return tensor.detach().to(dtype).requires_grad_(tensor.requires_grad)

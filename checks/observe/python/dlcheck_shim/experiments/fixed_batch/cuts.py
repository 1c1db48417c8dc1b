"""Where a step takes values off the graph of its loss, or changes the gradients on their way: what may
make its gradient another one than the slope of its loss, mostly on purpose."""

import sys

import torch
from torch.overrides import TorchFunctionMode

from ...record.sites import SKIPPED
from ...state import walking
from ...torch_api import private
from ...torch_api.dispatched import asked_about

OURS, TORCHS = SKIPPED[1], (SKIPPED[0], *SKIPPED[2:])
# What is read as numbers of Python.
READING = {"item", "tolist", "numpy", "__array__", "__float__", "__int__", "__index__", "__bool__",
           "__complex__", "equal", "allclose", "is_nonzero"}  # fmt: skip
HOOKING = {"register_hook", "register_post_accumulate_grad_hook"}
# What they give says nothing about the numbers that they are given.
BLANK = {"grad", private.GRADIENT, "size", "empty_like", "zeros_like", "ones_like", "full_like", "rand_like",
         "randn_like", "randint_like", "new_empty", "new_zeros", "new_ones", "new_full"}  # fmt: skip
# Functions of torch that do so inside.
CUTTING = {"gumbel_softmax", "gaussian_nll_loss"}
# Nodes whose function jumps, or has another backward than its slope.
JUMPING = ("Round", "Floor", "Ceil", "Trunc", "Frac", "Sign", "Sgn", "Heaviside", "Fmod", "Remainder",
           "Hardshrink", "Threshold", "FakeQuantize", "FusedMovingAvgObsFq", "Unique")  # fmt: skip
ODD_NAMES = {"BackwardHookFunctionBackward": "a hook"}
MOST_NODES = 1 << 14


class Cuts(TorchFunctionMode):
    """Sees all calls of torch's functions while it is the only mode of the thread."""

    def __init__(self, watch):
        super().__init__()
        self.watch, self.seen = watch, {}
        self.made_before = None  # nodes up to this one are of graphs that a backward went through
        self.pending = set()  # since the last backward

    def begin(self):
        """False where the program has modes of its own, whose order must stay, or where the age of a
        graph cannot be known."""
        if private.count_function_modes() or not private.has_sequence_numbers:
            return False
        self.made_before = newest_node()
        self.__enter__()
        return True

    def end(self):
        """False where the program has left or entered a mode in between."""
        if private.count_function_modes() != 1 or private.function_mode_at(0) is not self:
            return False
        self.__exit__(None, None, None)
        return True

    def __torch_function__(self, function, types, args=(), kwargs=None):
        function, kwargs = asked_about(function), kwargs or {}
        made = function(*args, **kwargs)
        name = name_of(function)
        if not self.watch.guard.elsewhere() and self.is_cut(name, (*args, *kwargs.values()), made):
            site = site_of_caller(self.watch)
            if site is not None:
                self.pending.add((name if torch.is_grad_enabled() else f"{name} without gradients", site))
        return made

    def is_cut(self, name, given, made):
        if name in BLANK or not any(map(self.is_of_graph, tensors_in(given))):
            return False
        if name in READING or name in HOOKING or name in CUTTING:
            return True
        return any(not tensor.requires_grad for tensor in tensors_in(made))

    def is_of_graph(self, tensor):
        if not tensor.requires_grad:
            return False
        return tensor.grad_fn is None or private.sequence_number_of(tensor.grad_fn) > self.made_before

    def look_at_graph(self, roots):
        """Before a backward: functions whose backward is another than their slope, and hooks."""
        if runs_scripts(self.watch.models):
            self.pending.add(("scripted code", 0))
        nodes, seen = [root.grad_fn for root in roots if root.grad_fn is not None], set()
        while nodes and len(seen) < MOST_NODES:
            node = nodes.pop()
            if node in seen:
                continue
            seen.add(node)
            nodes += [before for before, _ in node.next_functions if before is not None]
            if is_odd(node):
                self.pending.add((ODD_NAMES.get(type(node).__name__, type(node).__name__), 0))
            self.look_for_hooks(getattr(node, "variable", None))
        if nodes:
            self.pending.add(("a large graph", 0))

    def look_for_hooks(self, leaf):
        if leaf is None:
            return
        for hook in private.hooks_of(leaf):
            self.pending.add(("a hook", self.site_of(getattr(hook, "__code__", None))))

    def site_of(self, code):
        if code is None:
            return 0
        return self.watch.recorder.writer.site(code.co_filename, code.co_firstlineno, code.co_name)

    def end_backward(self):
        """What was seen since may have a part in the loss it began with."""
        for cut in self.pending:
            self.seen[cut] = self.seen.get(cut, 0) + 1
        self.pending = set()
        self.made_before = newest_node()


def newest_node():
    with torch.enable_grad():
        return private.sequence_number_of((torch.zeros((), requires_grad=True) * 1).grad_fn)


def runs_scripts(models):
    """Whether there is code of TorchScript, whose calls are not seen one by one."""
    return private.has_script_functions() or any(
        isinstance(module, torch.jit.ScriptModule)
        for root, _ in models.roots.items() for module in walking.modules(root))  # fmt: skip


def is_odd(node):
    if isinstance(node, torch.autograd.function.BackwardCFunction):
        return True
    name = type(node).__name__
    if "::" in name or "Cpp" in name or name.startswith(JUMPING):
        return True
    return bool(private.saved(node, "scale_grad_by_freq", False))


def name_of(function):
    name = getattr(function, "__name__", "")
    return function.__self__.__name__ if name == "__get__" else name


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item)]
    if isinstance(value, dict):
        return tensors_in(list(value.values()))
    return []


def site_of_caller(watch):
    """The program's line; None for a call of the probe's own."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(TORCHS):
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith(OURS):
        return None
    return watch.steps.sites.current(always=True)

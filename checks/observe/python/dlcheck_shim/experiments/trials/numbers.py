"""Sees every single number that a program works out: what made it, where, and its value, of which a graph
says nothing; and the numbers in a sum that are off the graph, but were made of weights.

What is seen of a number on the graph lies in its node's own `metadata`, which lives and dies with it.
"""

import dataclasses

import torch
from torch.overrides import TorchFunctionMode

from ...autograd.loss_graph import mark, mark_of
from ...hooks.unseen import graphs_compiled
from ...record.identity import IdentityMap
from ...state.optimizers import parameters_of
from ...torch_api import private, tensors
from ...torch_api.capabilities import is_compiling
from ...torch_api.dispatched import asked_about
from ...torch_api.wrapping import replace
from ..fixed_batch.cuts import BLANK, HOOKING, name_of, tensors_in

NUMBER = "dlcheck number"
MOST_NUMBERS = 12  # of a stack of them


@dataclasses.dataclass(frozen=True)
class Number:
    """`constants` are those among the numbers that it was made of which are off the graph, and were made
    of weights themselves; `parts` say of which numbers on the graph all of it was made."""

    operation: str
    site: int
    value: torch.Tensor
    constants: tuple = ()
    parts: frozenset = frozenset()


class Numbers(TorchFunctionMode):
    def __init__(self, watch):
        super().__init__()
        self.watch, self.seeing = watch, False
        self.reason = None  # why nothing more is to be seen
        self.hooked = False  # since the step began, gradients were asked for on their way
        self.derived, self.weights = IdentityMap(), IdentityMap()
        self.look = watch.guard.isolated("numbers", runs_program=True)(self.look)

    def begin(self):
        replace([torch], "compile", self.compiling)

    def compiling(self, original):
        """What is compiled must find the thread as the program left it."""

        def compile(*args, **kwargs):
            self.reason = "the program compiles code"
            self.stop()
            return original(*args, **kwargs)

        return compile

    def start(self):
        if graphs_compiled():
            self.reason = "the program compiles code"
        elif private.count_function_modes():
            self.reason = "the program has modes that see calls of torch"
        if self.reason is not None or self.seeing:
            return
        self.hooked = False
        for optimizer, _ in self.watch.steps.optimizers.ours():
            for parameter in parameters_of(optimizer):
                self.weights.set(parameter, True)
        self.seeing = True
        self.__enter__()

    def stop(self):
        """Stays where the program has entered a mode of its own since, to be left when that was."""
        depth = private.count_function_modes()
        if self.seeing and depth and private.function_mode_at(depth - 1) is self:
            self.seeing = False
            self.__exit__(None, None, None)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        function = asked_about(function)
        made = function(*args, **(kwargs or {}))
        if not is_compiling() and self.seeing and tensors.may_compute():
            self.look(name_of(function), tensors_in((args, kwargs or {})), tensors_in(made))
        return made

    def look(self, name, given, made):
        if name in HOOKING or name == "retain_grad":
            self.hooked = True
        if name in BLANK:
            return
        derived = any(map(self.is_derived, given))
        for tensor in filter(tensors.is_plain, made):
            node = node_of(tensor)
            if node is not None and mark_of(node, NUMBER) is None and is_single(tensor, given):
                mark(node, NUMBER, self.number(name, given, tensor))
            if derived and tensor not in self.weights:
                number = self.number(name, given, tensor) if tensor.numel() == 1 else None
                self.derived.set(tensor, number)

    def is_derived(self, tensor):
        return tensor in self.derived or tensor in self.weights

    def number(self, name, given, tensor):
        held = [self.derived.get(t) for t in given if not t.requires_grad]
        held = tuple(number for number in held if number is not None)
        nodes = [node for node in (node_of(t) for t in given if t.numel() == 1) if node is not None]
        before = [number for number in (mark_of(n, NUMBER) for n in nodes) if number is not None]
        parts = {private.sequence_number_of(node) for node in nodes}.union(*(n.parts for n in (*held, *before)))
        site = self.watch.steps.sites.current(always=True)
        return Number(name, site, tensor.detach().clone(), held, frozenset(parts))


def node_of(tensor):
    """None also for a view that was taken without gradients, and of which the rest was written to."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def is_single(tensor, given):
    if tensor.numel() == 1:
        return True
    return tensor.numel() <= MOST_NUMBERS and all(t.numel() == 1 for t in given)

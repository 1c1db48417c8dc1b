"""The terms of the sum that a loss is, read from its graph: what stands below additions, means of stacked
numbers and constant factors."""

import dataclasses
import math

import torch

from ...autograd.loss_graph import ARRANGING, mark_of
from ...torch_api import private
from ..fixed_batch.unjudged import Unjudged
from .numbers import NUMBER

MOST_PASSED = 256  # nodes


@dataclasses.dataclass
class Term:
    """`node` is none for a number off the graph; `value` is without the factor."""

    node: object
    place: int
    factor: float
    operation: str
    site: int
    value: torch.Tensor


class Sum:
    def __init__(self, node):
        self.found, self.made_of, self.passed = {}, {}, set()
        self.waiting = [(node, 0, 1.0, None)]

    def terms(self):
        """In their order. A number off the graph that is made of another term is none: a value is put in
        the place of that one, which keeps its gradient."""
        while self.waiting:
            self.visit(*self.waiting.pop())
            if len(self.passed) > MOST_PASSED:
                raise Unjudged("the loss has too many terms")
        return [term for key, term in self.found.items()
                if term.factor != 0 and self.passed.isdisjoint(self.made_of.get(key, ()))]  # fmt: skip

    def visit(self, node, place, factor, known):
        """`known`: what was seen of a number that this one is a factor of, and the factor then."""
        if factor == 0:  # it is switched off
            return
        if node is None:
            self.add_constant(known, factor)
            return
        if is_leaf(node):
            self.add(node, 0, factor, "parameter", 0, node.variable.detach().clone())
            return
        self.passed.add(private.sequence_number_of(node))
        number = mark_of(node, NUMBER)
        if number is not None:
            known = (number, factor)
        below = parts_of(node)
        if below is None:
            if known is None:
                raise Unjudged("the value of a loss term is unknown")
            number, before = known
            value = number.value.double() * (before / factor)
            self.add(node, place, factor, number.operation, number.site, value)
            return
        held = list(number.constants) if number is not None else []
        for (before, at), times in reversed(below):  # what waits last is visited first
            if before is not None:
                self.waiting.append((before, at, factor * times, None if len(below) > 1 else known))
            else:
                self.waiting += [(None, 0, factor * times, constant) for constant in held]
                held = []

    def add(self, node, place, factor, *told):
        if (node, place) in self.found:
            self.found[node, place].factor += factor
        else:
            self.found[node, place] = Term(node, place, factor, *told)

    def add_constant(self, number, factor):
        key = (None, len(self.found))
        self.made_of[key] = number.parts
        self.found[key] = Term(None, 0, factor, number.operation, number.site, number.value)


def parts_of(node):
    """[(edge, factor)] of what a node adds up, all single numbers; None of any other node."""
    name, edges = node.name(), node.next_functions
    if name in ("AddBackward0", "SubBackward0") and len(edges) == 2:
        alpha = float(private.saved(node, "alpha"))
        below = [(edges[0], 1.0), (edges[1], alpha if name == "AddBackward0" else -alpha)]
    elif name in ("SumBackward0", "MeanBackward0"):
        below = stacked(edges[0], name == "MeanBackward0")
    else:
        lone = [edge for edge in edges if edge[0] is not None]
        times = factor_of(node) if len(lone) == 1 else None
        below = None if times is None else [(lone[0], times)]
    if below is None or not all(is_number(*edge) for edge, _ in below):
        return None
    return below


def stacked(edge, mean):
    node, _ = edge
    if node.name() in ("StackBackward0", "CatBackward0"):
        count = len(node.next_functions)
        return [(before, 1 / count if mean else 1.0) for before in node.next_functions]
    return [(edge, 1.0)]


def factor_of(node):
    name = node.name()
    if name in ARRANGING:
        return 1.0
    if name == "NegBackward0":
        return -1.0
    if name == "RsubBackward1":
        return -float(private.saved(node, "alpha"))
    if name == "MulBackward0":
        # The graph keeps of the two what the other one's gradient takes.
        first = node.next_functions[0][0] is not None
        return constant(private.saved(node, "other" if first else "self"))
    if name == "DivBackward0" and node.next_functions[0][0] is not None:
        divisor = constant(private.saved(node, "other"))
        return 1 / divisor if divisor else None
    return None


def constant(value):
    if isinstance(value, torch.Tensor):
        if value.numel() != 1 or value.requires_grad or value.is_complex():
            return None
        return float(value)
    return None if value is None else float(value)


def is_leaf(node):
    return node.name().endswith("AccumulateGrad")


def is_number(node, place):
    """True where a single number is on the way from a node to the next; of what is off the graph nothing
    is known, nor asked."""
    if node is None:
        return True
    if is_leaf(node):
        return node.variable.numel() == 1
    return math.prod(private.shapes_into(node)[place]) == 1

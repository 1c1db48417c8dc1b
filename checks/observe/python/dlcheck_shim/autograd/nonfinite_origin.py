"""Finds where in the graph of a loss that is not finite the first such value was made, from what the
graph saved by itself.

Nothing is run again but a few operations whose inputs were saved and whose result was not. What
cannot be known is never taken to be finite: then nothing is found.
"""

import collections
import dataclasses
import math

import torch

from ..torch_api import private, tensors
from . import saved_values
from .loss_graph import ARRANGING, SavedTensors
from .saved_values import FINITE, NAN, Value, is_finite

MOST_NODES = 1 << 14

# Their result holds what is not finite in any of their inputs, wherever it stands.
CARRYING = ARRANGING - {"SliceBackward0", "SelectBackward0", "AsStridedBackward0"} | {
    "AddBackward0", "SubBackward0", "RsubBackward0", "RsubBackward1", "MulBackward0", "NegBackward0",
    "SumBackward0", "SumBackward1", "MeanBackward0", "MeanBackward1", "AddmmBackward0",
    "MmBackward0", "BmmBackward0", "MseLossBackward0", "L1LossBackward0", "CatBackward0",
    "StackBackward0", "AbsBackward0", "SqrtBackward0", "LogBackward0", "Log2Backward0",
    "Log10Backward0", "Log1PBackward0",
}  # fmt: skip
# Their result holds some of their one input, or all of it, and nothing else but finite numbers.
PICKING = ARRANGING - {"ToCopyBackward0"} | {
    "NegBackward0", "AbsBackward0", "ReluBackward0", "ClampBackward1", "IndexBackward0",
    "IndexSelectBackward0", "GatherBackward0", "MaxBackward0", "MaxBackward1", "MinBackward0",
    "MinBackward1", "AmaxBackward0", "AminBackward0", "NllLossBackward0",
}  # fmt: skip
# Their result is finite unless their inputs are very large or very many, and then it is infinite.
COMBINING = {
    "AddBackward0", "SubBackward0", "MulBackward0", "SumBackward0", "SumBackward1",
    "MeanBackward0", "MeanBackward1", "AddmmBackward0", "MmBackward0", "BmmBackward0",
}  # fmt: skip
# What they put in is what the program gave them for it, and may be meant.
FILLING = {"MaskedFillBackward0", "ConstantPadNdBackward0"}
ADDING = ("AddBackward0", "SubBackward0")
DIVISION, POWER = "DivBackward0", "PowBackward0"


@dataclasses.dataclass
class Birth:
    what: str  # "operation", "data" that one was given without gradient, or "parameter"
    name: str  # of the operation
    distance: int  # in operations, to the loss
    inputs: Value = None  # of an operation, where they say something
    variable: torch.Tensor = None  # the parameter


class Births:
    """Tells it once in a run: of the first loss that is not finite."""

    def __init__(self, guard, recorder, models, line_of):
        """`line_of`: gives (file, line) of the only call of an operation in the program's own files, or None."""
        self.recorder, self.models, self.line_of = recorder, models, line_of
        self.tell = guard.isolated("birth")(self.tell)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.told = False

    def tell(self, loss, thing):
        """Before the backward from a `loss` that is not finite."""
        if self.told or not tensors.may_compute():
            return
        self.told = True
        birth = birth_behind(loss)
        if birth is None:
            return
        for key, value in self.attributes_of(birth).items():
            self.recorder.attribute(thing, f"born_{key}", value)

    def attributes_of(self, birth):
        known = self.models.parameters.get(birth.variable) if birth.variable is not None else None
        name = known[1] if known else birth.name
        found = {"step": self.recorder.step, "of": birth.what, "name": name,
                 "distance": birth.distance}  # fmt: skip
        place = self.line_of(birth.name) if birth.what == "operation" else None
        if place is not None:
            found |= {"file": place[0], "line": place[1]}
        inputs = birth.inputs
        if inputs is not None and inputs.elements == 0:
            found["elements"] = 0
        elif inputs is not None and not math.isnan(inputs.low + inputs.high):
            found |= {"low": inputs.low, "high": inputs.high}
        return found


def birth_behind(loss):
    """What made the first value that is not finite; None where that cannot be told. For a loss whose
    backward did not run yet."""
    if loss.grad_fn is None or SavedTensors.packed:
        return None
    order = producers_first(loss.grad_fn)
    if order is None:
        return None
    with tensors.unrecorded():
        graph = Graph(order, saved_values.examine(loss))
        found = graph.births(loss.grad_fn)
    # What was given comes before what was made of it, and what is furthest away before the rest.
    ranks = ("operation", "data", "parameter")
    return max(found, key=lambda birth: (ranks.index(birth.what), birth.distance), default=None)


def producers_first(root):
    """All nodes behind a node and itself, each after those before it; None if there are too many."""
    order, known, waiting = [], {root}, [(root, iter(root.next_functions))]
    while waiting:
        node, edges = waiting[-1]
        before = next((n for n, _ in edges if n is not None and n not in known), None)
        if before is None:
            order.append(node)
            waiting.pop()
        else:
            known.add(before)
            waiting.append((before, iter(before.next_functions)))
        if len(known) > MOST_NODES:
            return None
    return order


class Graph:
    """What is known of every value between the inputs of a graph and a loss."""

    def __init__(self, order, value_of_loss):
        self.values = {}  # by the node that gives it and its place among what that gives
        self.given = collections.defaultdict(list)  # what a node was given without gradient
        self.made = set()  # nodes seen to make what is not finite, whatever else they were given
        for node in order:
            saved_values.read(node, self.values, self.given)
        for node in order:
            if (node, 0) not in self.values:
                self.derive(node)
        self.values[order[-1], 0] = value_of_loss
        for node in reversed(order):
            self.derive_input(node)

    def inputs(self, node):
        """The values that a node was given; None for one that is not known."""
        values = [self.values.get(edge) for edge in node.next_functions if edge[0] is not None]
        given = self.given.get(node, [])
        unknown = sum(n is None for n, _ in node.next_functions) - len(given)
        return values + given + [None] * unknown

    def derive(self, node):
        """Works out what a node gave from what it was given."""
        name, inputs = node.name(), self.inputs(node)
        worst = max(map(self.kind_of, self.carried(node)), default=FINITE)
        if name in CARRYING:
            worst = max(worst, self.worst_given(node))
        again = saved_values.made_again(node) if worst == FINITE else Value(worst)
        if again is not None:
            self.values[node, 0] = again
            if worst == FINITE != again.kind:
                self.made.add(node)
        elif inputs and all(is_finite(v) for v in inputs):
            result = saved_values.joined(inputs)
            if name in COMBINING:
                result = saved_values.combined(inputs)
            if name in PICKING or name in COMBINING and result.room < result.most:
                self.values[node, 0] = result

    def derive_input(self, node):
        """What only one input can have brought in, if the node itself cannot have made it."""
        kind, inputs = self.kind_of((node, 0)), self.inputs(node)
        edges = [edge for edge in node.next_functions if edge[0] is not None]
        unknown = [edge for edge in edges if edge not in self.values]
        if kind == FINITE or inputs.count(None) != 1 or not all(map(is_finite, filter(None, inputs))):
            return
        # A sum of many may be no number though each of them is one, and so may zero times infinity.
        name, nonzero = node.name(), all(v is None or v.low > 0 or v.high < 0 for v in inputs)
        passes = name in ADDING or name in (DIVISION, "MulBackward0") and nonzero
        if name not in PICKING and not (passes and kind == NAN):
            return
        if unknown:
            self.values[unknown[0]] = Value(kind)
        else:
            self.given[node].append(Value(kind))

    def births(self, root):
        """Those that are reached from the loss through nothing but values that are not finite."""
        found, known, waiting = [], {root}, collections.deque([(root, 0)])
        while waiting:
            node, distance = waiting.popleft()
            spread = self.spreading(node)
            found += self.births_in(node, distance, spread)
            for before in spread:
                if before not in known:
                    known.add(before)
                    waiting.append((before, distance + 1))
        return found

    def carried(self, node):
        """The edges of what is sure to make the result not finite if it is not finite itself."""
        name = node.name()
        edges = [edge for edge in node.next_functions if edge[0] is not None]
        if name == DIVISION:
            return [e for e in edges if e == node.next_functions[0] or self.kind_of(e) == NAN]
        power = name == POWER and private.saved(node, "exponent") > 0
        return edges if power or name in CARRYING else []

    def spreading(self, node):
        """The nodes from which what is not finite in the result of this one is sure to come."""
        edges = self.carried(node)
        if not edges:
            edges = [edge for edge in node.next_functions if edge[0] is not None]
            both = [self.kind_of(edge) for edge in [(node, 0), *edges]] == [NAN, NAN]
            edges = edges if both or node.name() in PICKING else []
        return [n for n, place in edges if self.kind_of((n, place)) != FINITE]

    def kind_of(self, edge):
        value = self.values.get(edge)
        return FINITE if value is None else value.kind

    def worst_given(self, node):
        return max((v.kind for v in self.given.get(node, [])), default=FINITE)

    def births_in(self, node, distance, spread):
        variable = saved_values.variable_of(node)
        if variable is not None:
            return [Birth("parameter", "", distance, variable=variable)]
        name, inputs = node.name(), self.inputs(node)
        worst = self.worst_given(node)
        if worst == NAN or worst != FINITE and name in CARRYING:
            return [Birth("data", spelled(name), distance)]
        sure = all(map(is_finite, inputs))
        sure |= node in self.made and all(v is None or is_finite(v) for v in inputs)
        if spread or not sure or name in FILLING or saved_values.is_custom(node):
            return []
        return [Birth("operation", spelled(name), distance, saved_values.telling(node, inputs))]


def spelled(name):
    """"log_softmax" for "LogSoftmaxBackward0"."""
    name = name.rpartition("Backward")[0] or name
    return "".join("_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(name))

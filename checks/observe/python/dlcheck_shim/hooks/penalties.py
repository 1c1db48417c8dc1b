"""Looks for gradient penalties that train nothing: gradients that torch.autograd.grad made without create_graph are
constants, and so is what is computed from them.
"""

import collections
import weakref

import torch

from ..autograd.input_gradients import mark_gradient
from ..autograd.loss_graph import ARRANGING, MOST_BEHIND, factor_of, loss_behind, only_input
from ..autograd.negated_divergence import SUMS, subtracts_divergence
from ..autograd.rearranged import shape_of
from ..torch_api import private, tensors
from ..torch_api.capabilities import is_compiling
from ..torch_api.wrapping import followed_by, replace

STEPS = 3  # in which a penalty has to be constant
MOST_GIVEN = 16  # inputs of the latest forwards: a critic may be called with others in between
MOST_LOOKS = 64  # backward calls in which a divergence is looked for
PLACE_OF_GRAPH = 4  # of create_graph among the arguments of torch.autograd.grad


class Penalties:
    def __init__(self, guard, recorder, sites, losses):
        self.recorder, self.sites, self.losses = recorder, sites, losses
        self.asked = guard.isolated("gradients")(self.asked)
        self.reached_by = guard.isolated("loss")(self.reached_by)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.given = collections.deque(maxlen=MOST_GIVEN)  # weak references to the latest inputs of models
        self.at, self.site = None, 0  # the step in which gradients were asked for last, and the line
        self.constant, self.told, self.looks = set(), set(), 0  # steps; quantities; backward calls

    def subscribe(self, moments):
        moments.batch_enters.append(self.enter)

    def enter(self, inputs):
        self.given += [weakref.ref(given) for given in inputs if isinstance(given, torch.Tensor)]

    def watch_all(self):
        replace([torch.autograd], "grad", followed_by(self.asked))

    def asked(self, result, args, kwargs):
        """Gradients of the outputs of a model by its inputs, in training. Those of a loss may be for an attack."""
        if not self.recorder.sampled or is_compiling() or private.current_graph_task_id() != -1:
            return
        outputs, inputs = (listed(args[i] if len(args) > i else kwargs.get(name)) for i, name in enumerate(("outputs", "inputs")))
        keeps = kwargs.get("create_graph", args[PLACE_OF_GRAPH] if len(args) > PLACE_OF_GRAPH else False)
        if listed(result) and keeps and not any(isinstance(given, torch.nn.Parameter) for given in inputs):
            mark_gradient(listed(result)[0])
        entered = [id(given) for given in (reference() for reference in self.given) if given is not None]
        if keeps or not torch.is_grad_enabled() or not all(id(given) in entered for given in inputs):
            return
        if outputs and tensors.is_plain(outputs[0]) and outputs[0].grad_fn is not None and loss_behind(outputs[0]) is None:
            self.at, self.site = self.recorder.step, self.sites.current()

    def reached_by(self, loss):
        """Before a backward from `loss`, in a sampled step."""
        self.looks += 1
        if self.looks <= MOST_LOOKS and "negated_divergence" not in self.told and subtracts_divergence(loss):
            self.told.add("negated_divergence")
            self.recorder.quantity("negated_divergence", self.losses.unnamed(), 1.0, site=self.sites.current())
        if self.at != self.recorder.step or "constant_term" in self.told or not has_constant_term(loss):
            return
        self.constant.add(self.at)
        if len(self.constant) == STEPS:
            self.told.add("constant_term")
            self.recorder.quantity("constant_term", self.losses.unnamed(), 1.0, site=self.site)


def listed(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return list(value) if type(value) in (list, tuple) else []


def has_constant_term(loss):
    """Whether a number without a graph was added to a part of the loss that has one."""
    waiting = [loss.grad_fn]
    for _ in range(MOST_BEHIND):
        node = waiting.pop() if waiting else None
        if node is None:
            return False
        before = [n for n, _ in node.next_functions]
        if node.name() in SUMS:
            if None in before and shape_of(node) == ():
                return True
            waiting += [n for n in before if n is not None]
        elif node.name() in ARRANGING or factor_of(node) is not None:
            waiting.append(only_input(node))
    return False

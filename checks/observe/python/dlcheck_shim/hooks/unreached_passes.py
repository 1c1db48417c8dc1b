"""Forwards in training mode, with gradients, whose outputs no backward reaches: an evaluation without eval() and
no_grad() looks like this. The graph of such an output is gone before the next backward begins.

The first forward of a model after a backward is not looked at: in most programs it is the only one.
"""

import weakref

import torch

from ..autograd.loss_graph import Life, mark

PASS = "dlcheck pass"
FEWEST = 4  # forwards beside the first one, all of them gone
MOST_BATCHES = 64  # whose rows are kept
MOST_OUTPUTS, DEEPEST = 32, 4  # tensors of an output, containers around one


class Passes:
    """Of one model since the last backward, and since its second forward."""

    def __init__(self, sites):
        self.sites = sites  # of the second one
        self.count, self.lives, self.rows = 1, [], []


class UnreachedPasses:
    def __init__(self, evaluations):
        self.evaluations = evaluations
        self.reset()

    def reset(self):
        self.by_model, self.backwards = {}, 0

    def begins(self, model, inputs):
        if model not in self.by_model:
            self.by_model[model] = None
            return
        passes = self.by_model[model]
        if passes is None:
            passes = self.by_model[model] = Passes(self.evaluations.sites.call_and_function())
        passes.count += 1
        if len(passes.rows) < MOST_BATCHES and self.evaluations.is_recorded():
            passes.rows.append(self.evaluations.rows_of(inputs))

    def ends(self, model, output):
        passes = self.by_model.get(model)
        if passes is not None:
            nodes = nodes_of(output)
            life = Life() if nodes else None
            for node in nodes:
                mark(node, PASS, life)
            passes.lives.append(weakref.ref(life) if life is not None else None)

    def backward(self):
        if self.by_model:
            self.write(lambda passes: sum(life is not None and life() is None for life in passes.lives))
        self.backwards += 1

    def finish(self):
        """No backward follows any more."""
        if self.backwards:
            self.write(lambda passes: sum(life is not None for life in passes.lives))

    def write(self, unreached):
        found, self.by_model = self.by_model, {}
        for model, passes in found.items():
            count = unreached(passes) if self.backwards and passes and passes.count > FEWEST else 0
            if count >= FEWEST:
                self.evaluations.add_passes(model, count + 1, passes)


def nodes_of(output):
    """What computes the tensors of an output; nothing where it holds what is not looked into."""
    nodes, waiting = [], [(output, 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, torch.Tensor):
            nodes += [value.grad_fn] if value.grad_fn is not None else []
        elif isinstance(value, (dict, tuple, list)) and depth < DEEPEST:
            values = dict.values(value) if isinstance(value, dict) else type_of(value).__iter__(value)
            waiting += [(part, depth + 1) for part in values]
        elif value is not None and not isinstance(value, (int, float, str, bool)):
            return []
        if len(nodes) + len(waiting) > MOST_OUTPUTS:
            return []
    return nodes


def type_of(value):
    """The built-in type, whose methods no program made its own."""
    return tuple if isinstance(value, tuple) else list

"""Looks for a contrastive loss whose positives all have the same score, the largest of their row: the two views of each
sample are equal, and so are their embeddings.

Scores of rows with themselves look the same, as of a term that spreads embeddings. Such symmetric scores count only
where a model was given equal inputs twice.
"""

import re

import torch

from ..state.loss_calls import has_one_class_each
from ..torch_api import tensors
from ..torch_api.on_host import on_host

STEPS = 3  # the first compared ones, all of which must have equal views
FEWEST_ROWS, MOST_ROWS = 4, 2048
EQUAL = 4e-6  # relative difference of cosines that are all 1, in single precision
MOST_BEHIND = 32  # nodes of the graph before the scores
PRODUCT = re.compile("mm|Conv|Linear", re.IGNORECASE)
APART = 1e-3  # by how much the scores of other rows are smaller on average


class IdenticalViews:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.steps = {}  # by thing of a loss: steps with equal views; None once it is known
        self.looks_at_inputs = False
        self.at, self.given, self.twice = -1, set(), False  # of a step: summaries of inputs, and whether two are equal

    def subscribe(self, moments):
        moments.batch_compared.append(self.enter)
        moments.loss_compared.append(self.add)

    def enter(self, inputs):
        if not self.looks_at_inputs or None in self.steps.values():
            return
        if self.at != self.recorder.step:
            self.at, self.given, self.twice = self.recorder.step, set(), False
        first = next((each for each in inputs if tensors.is_readable(each) and each.is_floating_point()), None)
        if first is not None and first.dim() > 1 and len(first) > 1 and not self.twice and (first := on_host(first)).is_cpu:
            half = len(first) // 2
            halves = [first.detach()[:half], first.detach()[half : 2 * half]]
            summary = (tuple(first.shape), float(first.detach().double().sum()), float(first.detach().reshape(-1)[0]))
            self.twice = summary in self.given or halves[0].equal(halves[1])
            self.given.add(summary)

    def add(self, call):
        steps = self.steps.get(call.thing, 0)
        if steps is None or not has_one_class_each(call) or not tensors.is_readable(call.output):
            return
        rows, columns = call.output.shape
        if not FEWEST_ROWS <= rows <= MOST_ROWS or columns not in (rows, rows - 1) or call.output.dtype not in (torch.float32, torch.float64):
            return
        scores = on_host(call.output)
        if not scores.is_cpu:
            return
        if compares_weights(call.output.grad_fn, rows):
            self.steps[call.thing] = None
            return
        best = best_of_equal(scores.detach().double(), call.host_target)
        if best is not None and call.host_target.equal(torch.arange(rows)) and scores.allclose(scores.mT):
            if not self.looks_at_inputs:
                self.looks_at_inputs = True  # from the next step on
                return
            best = best if self.twice else None
        self.steps[call.thing] = None if best is None or steps + 1 == STEPS else steps + 1
        if best is not None and self.steps[call.thing] is None:
            self.recorder.quantity("identical_views", call.thing, float(rows), best, self.sites.current())


def compares_weights(node, rows):
    """Whether the scores are products of a parameter with as many rows, as of prototypes that are to lie far apart."""
    waiting = [(node, 0)]
    for _ in range(MOST_BEHIND):
        node, products = waiting.pop(0) if waiting else (None, 0)
        if node is None:
            return False
        weight = getattr(node, "variable", None)
        if weight is not None and weight.dim() == 2 and weight.shape[0] == rows:
            return True
        products += PRODUCT.search(node.name()) is not None
        if products < 2:
            waiting += [(behind, products) for behind, _ in node.next_functions if behind is not None]
    return False


def best_of_equal(scores, target):
    """The score that all positives have in common, if it is the largest of each row and others are smaller; else None."""
    if int(target.min()) < 0 or int(target.max()) >= scores.shape[1]:
        return None
    own = scores.gather(1, target[:, None])[:, 0]
    best, margin = float(own.max()), EQUAL * float(own.abs().max())
    if float(own.min()) < best - margin or bool((scores.amax(1) > own + margin).any()):
        return None
    others = scores[scores.isfinite() & (scores > -abs(best) * 2)]  # without masked ones
    return best if float(others.median()) < best - APART * abs(best) else None

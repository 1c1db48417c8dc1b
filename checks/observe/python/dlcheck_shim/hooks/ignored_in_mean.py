"""Finds a mean over the losses of single targets that counts the zeros of those that were to be ignored."""

from ..autograd.loss_graph import ARRANGING, mark, mark_of, only_input

IGNORED = "dlcheck ignored"
MEANS = ("MeanBackward0", "MeanBackward1")
LONGEST_CHAIN = 16


class IgnoredInMean:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reached_by = guard.isolated("loss", asks_tensors=False)(self.reached_by)

    def subscribe(self, moments):
        moments.loss_examined.append(self.look)

    def look(self, call):
        if call.function not in ("cross_entropy", "nll_loss") or call.result.dim() == 0:
            return
        if call.target.is_floating_point() or not call.host_target.is_cpu:
            return
        ignored = int((call.host_target == call.options.get("ignore_index", -100)).sum())
        if ignored:
            mark(call.result.grad_fn, IGNORED, (call.thing, ignored, call.target.numel()))

    def reached_by(self, loss):
        """Before a backward from `loss`: whether nothing but one mean lies between it and what was marked."""
        node, means = loss.grad_fn, 0
        for _ in range(LONGEST_CHAIN):
            if node is None:
                return
            marked = mark_of(node, IGNORED)
            if marked is not None:
                break
            means += node.name() in MEANS
            if node.name() not in (*MEANS, *ARRANGING, "MulBackward0", "DivBackward0"):
                return
            node = only_input(node)
        if marked is not None and means:
            thing, ignored, total = marked
            self.recorder.quantity("ignored_in_mean", thing, float(ignored), float(total), self.sites.current())

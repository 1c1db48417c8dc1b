"""Compares the targets of samples whose inputs are equal: where they differ, no model can be right for both."""

import torch

from ..record.rows import COLUMNS

MOST_KNOWN = 1 << 16
LOSSES = ("cross_entropy", "nll_loss")


class RepeatedRows:
    def __init__(self, recorder):
        self.recorder = recorder
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.rows, self.exact = [], False  # numbers of those that the last forward trained on
        self.targets, self.differing, self.told = {}, set(), 0

    def subscribe(self, moments):
        moments.batch_enters.append(self.enters)
        moments.rows_trained.append(self.keep)
        moments.loss_examined.append(self.compare)
        moments.step_ends.append(self.end_step)

    def enters(self, inputs):
        """The number of a row stands for its first input and at most COLUMNS of its entries."""
        found = [given for given in inputs if isinstance(given, torch.Tensor)]
        self.rows, self.exact = [], len(found) == 1 and found[0].dim() > 0 and found[0][:1].numel() <= COLUMNS

    def keep(self, numbers):
        if self.exact:
            self.rows = numbers

    def compare(self, call):
        target = call.target
        if call.function not in LOSSES or target.dim() != 1 or target.is_floating_point() or not target.is_cpu:
            return
        if len(self.rows) != target.shape[0] or len(self.targets) >= MOST_KNOWN:
            return
        task = (call.thing, tuple(call.output.shape[1:]))
        for row, value in zip(self.rows, target.tolist()):
            if self.targets.setdefault((task, row), value) != value:
                self.differing.add((task, row))
        self.rows = []  # a mixture of samples has a further loss, with the targets of the others

    def end_step(self, owner):
        self.rows = []
        if len(self.differing) >= 2 * self.told + 1:
            self.told = len(self.differing)
            thing = self.recorder.thing("batch", 0, "input")
            self.recorder.quantity("contradicting_rows", thing, float(self.told), float(len(self.targets)))

"""Compares the targets of samples whose inputs are equal: where they differ, no model can be right for both."""

import torch

from ..record.rows import COLUMNS
from ..state.loss_calls import has_one_class_each

MOST_KNOWN = 1 << 16


class RepeatedRows:
    def __init__(self, recorder):
        self.recorder = recorder
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.rows, self.exact = [], False  # numbers of those that the last forward trained on
        self.targets, self.known = {}, 0  # by task: the target of each row
        self.differing, self.told = set(), 0

    def subscribe(self, moments):
        moments.batch_compared.append(self.enters)
        moments.rows_trained.append(self.keep)
        moments.loss_compared.append(self.compare)
        moments.step_ends.append(self.end_step)

    def enters(self, inputs):
        """The number of a row stands for its first input and at most COLUMNS of its entries."""
        found = [given for given in inputs if isinstance(given, torch.Tensor)]
        self.rows, self.exact = [], len(found) == 1 and found[0].dim() > 0 and found[0][:1].numel() <= COLUMNS

    def keep(self, numbers):
        if self.exact:
            self.rows = numbers

    def compare(self, call):
        if not self.rows or self.known >= MOST_KNOWN or not has_one_class_each(call):
            return
        target = call.host_target
        if len(self.rows) != target.shape[0]:
            return
        task = (call.thing, call.output.shape[1])
        targets = self.targets.setdefault(task, {})
        values = target.tolist()
        known = list(map(targets.setdefault, self.rows, values))
        if known != values:
            self.differing.update((task, row) for row, before, value in zip(self.rows, known, values) if before != value)
        # Not by map(len): a function `sum` of the program would call a `len` of its own.
        self.known = sum(len(targets) for targets in self.targets.values())
        self.rows = []  # a mixture of samples has a further loss, with the targets of the others

    def end_step(self, owner):
        self.rows = []
        if len(self.differing) >= 2 * self.told + 1:
            self.told = len(self.differing)
            thing = self.recorder.thing("batch", 0, "input")
            self.recorder.quantity("contradicting_rows", thing, float(self.told), float(self.known))

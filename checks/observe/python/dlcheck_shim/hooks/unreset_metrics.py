"""Tells of numbers that an evaluation, or an epoch, adds to those of the one before: a count, a list or a meter that
nobody sets back. Where they ran is seen; what is added up and set back is read from the program's source as the run ends.
"""

from ..source.accumulated import never_reset
from ..source.divided import growing_sums
from ..source.trees import MOST_FILES, looked_through, short_tree_of

MOST_LINES, MOST_LOOKS = 64, 16
OFTEN = 2  # evaluations at one line


class UnresetMetrics:
    def __init__(self, guard, recorder, sites, evaluations):
        self.recorder, self.sites, self.evaluations = recorder, sites, evaluations
        self.evaluates = guard.isolated("accumulated", asks_tensors=False)(self.evaluates)
        self.trains = guard.isolated("accumulated", asks_tensors=False)(self.trains)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.evaluated = {}  # by file and line: the numbers of the evaluations that were under way there
        self.trained, self.looks = set(), 0  # (file, line) under way at a backward call

    def subscribe(self, moments):
        moments.evaluation_batch.append(self.evaluates)
        moments.backward_begins.append(self.trains)

    def evaluates(self, inputs):
        phase = self.evaluations.phase
        if phase is None or phase.batches > 2 or len(self.evaluated) >= MOST_LINES:
            return
        for place in self.sites.under_way():
            self.evaluated.setdefault(place, set()).add(self.evaluations.seen)

    def trains(self):
        if self.looks < MOST_LOOKS:
            self.looks += 1
            self.trained.update(self.sites.under_way())

    def write(self):
        """As the run ends."""
        if self.recorder.request.experiment != "plain":
            return
        often = {place for place, numbers in self.evaluated.items() if len(numbers) >= OFTEN}
        for path in sorted({file for file, _ in often | self.trained})[:MOST_FILES]:
            tree = short_tree_of(path)
            if tree is not None:
                evaluated, trained = ({line for file, line in places if file == path} for places in (often, self.trained))
                self.tell(path, looked_through(never_reset, tree, evaluated, trained), self.evaluations.seen)
                self.tell(path, looked_through(growing_sums, tree, trained), 0)

    def tell(self, path, found, evaluations):
        for name, line, function in found:
            thing = self.recorder.thing("variable", 0, name)
            self.recorder.quantity("unreset_metric", thing, float(evaluations),
                                   site=self.recorder.writer.site(path, line, function))  # fmt: skip

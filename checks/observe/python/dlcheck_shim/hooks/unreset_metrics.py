"""Tells of numbers that an evaluation, an epoch or an episode adds to those of the one before: a count, a list or a meter
that nobody sets back. Where they ran is seen; what is added up and set back is read from the program's source as the run ends.
"""

from ..source.accumulated import never_reset
from ..source.divided import growing_sums
from ..source.episode_returns import growing_returns
from ..source.trees import MOST_FILES, looked_through, short_tree_of

MOST_LINES, MOST_LOOKS, MOST_ACTS = 64, 16, 64
SUM_OF_TRAINING, RETURN_OF_EPISODE = 0, -1  # in the place of a number of evaluations
OFTEN = 2  # evaluations at one line


class UnresetMetrics:
    def __init__(self, guard, recorder, sites, evaluations):
        self.recorder, self.sites, self.evaluations = recorder, sites, evaluations
        self.evaluates = guard.isolated("accumulated", asks_tensors=False)(self.evaluates)
        self.trains = guard.isolated("accumulated", asks_tensors=False)(self.trains)
        self.acts = guard.isolated("accumulated", asks_tensors=False)(self.acts)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.evaluated = {}  # by file and line: the numbers of the evaluations that were under way there
        self.trained, self.looks = set(), 0  # (file, line) under way at a backward call
        self.acted, self.calls = set(), 0  # the same at a call of a model, which may choose an action

    def subscribe(self, moments):
        moments.evaluation_batch.append(self.evaluates)
        moments.backward_begins.append(self.trains)
        moments.forward_given.append(lambda model, inputs: self.acts())

    def evaluates(self, inputs):
        self.acts()
        phase = self.evaluations.phase
        if phase is None or phase.batches > 2 or len(self.evaluated) >= MOST_LINES:
            return
        for place in self.sites.under_way():
            self.evaluated.setdefault(place, set()).add(self.evaluations.seen)

    def trains(self):
        if self.looks < MOST_LOOKS:
            self.looks += 1
            self.trained.update(self.sites.under_way())

    def acts(self):
        if self.calls < MOST_ACTS:
            self.calls += 1
            self.acted.update(self.sites.under_way())

    def write(self):
        """As the run ends."""
        if self.recorder.request.experiment != "plain":
            return
        often = {place for place, numbers in self.evaluated.items() if len(numbers) >= OFTEN}
        for path in sorted({file for file, _ in often | self.trained | self.acted})[:MOST_FILES]:
            tree = short_tree_of(path)
            if tree is not None:
                places = (often, self.trained, self.acted)
                evaluated, trained, acted = ({line for file, line in found if file == path} for found in places)
                self.tell(path, looked_through(never_reset, tree, evaluated, trained), self.evaluations.seen)
                self.tell(path, looked_through(growing_sums, tree, trained), SUM_OF_TRAINING)
                self.tell(path, looked_through(growing_returns, tree, acted), RETURN_OF_EPISODE)

    def tell(self, path, found, evaluations):
        for name, line, function in found:
            thing = self.recorder.thing("variable", 0, name)
            self.recorder.quantity("unreset_metric", thing, float(evaluations),
                                   site=self.recorder.writer.site(path, line, function))  # fmt: skip

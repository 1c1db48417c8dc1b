"""Tells of comparisons that take the highest loss, or the fewest correct predictions, for the best result so far."""

from ..source.best_so_far import worst_kept
from ..source.trees import MOST_FILES, looked_through, short_tree_of


class KeptWorst:
    def __init__(self, recorder, divisors):
        """`divisors` knows the lines of losses and of forwards."""
        self.recorder, self.divisors = recorder, divisors

    def write(self):
        """As the run ends."""
        if self.recorder.request.experiment != "plain":
            return
        losses = {*self.divisors.lines["mean"], *self.divisors.lines["sum"]}
        for path in sorted({file for file, _ in (*losses, *self.divisors.forwards)})[:MOST_FILES]:
            tree = short_tree_of(path)
            lines = [{line for file, line in known if file == path} for known in (losses, self.divisors.evaluated, self.divisors.forwards)]
            for name, kind, weights, line, function in looked_through(worst_kept, tree, *lines) if tree is not None else ():
                self.recorder.quantity("worst_kept", self.recorder.thing("variable", 0, name), float(kind), float(weights),
                                       site=self.recorder.writer.site(path, line, function))  # fmt: skip

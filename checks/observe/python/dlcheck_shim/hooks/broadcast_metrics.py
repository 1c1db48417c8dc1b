"""Tells of metrics that compare a column of outputs with a row of targets, or the other way round: their shapes
broadcast, and each output is compared with every target.
"""

from ..source.broadcast_pairs import broadcast_pairs
from ..source.trees import MOST_FILES, looked_through, short_tree_of
from ..torch_api import tensors

MOST_LINES, LONGEST_NAME = 16, 60


class BroadcastMetrics:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.gave = guard.isolated("broadcast")(self.gave)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        # By file and line of a forward in an evaluation: how many rows its batches have, and whether the outputs are the
        # column; None where any batch is otherwise.
        self.lines = {}

    def subscribe(self, moments):
        moments.evaluation_gave.append(self.gave)

    def gave(self, model, output, beside):
        place = next(iter(self.sites.under_way()), None)
        if place is None or len(self.lines) == MOST_LINES and place not in self.lines:
            return
        found = shapes_of(output, beside)
        known = self.lines.get(place, found)
        if found is None or known is None or found[1] != known[1]:
            self.lines[place] = None
        else:
            self.lines[place] = max(found, known)

    def write(self):
        """As the run ends."""
        if self.recorder.request.experiment != "plain":
            return
        known = {place: shapes for place, shapes in self.lines.items() if shapes is not None and shapes[0] > 1}
        for path in sorted({file for file, _ in known})[:MOST_FILES]:
            tree = short_tree_of(path)
            lines = {line: shapes for (file, line), shapes in known.items() if file == path}
            for text, line, function, forward in looked_through(broadcast_pairs, tree, set(lines)) if tree is not None else ():
                rows, outputs_are_the_column = lines[forward]
                self.recorder.quantity("broadcast_metric", self.recorder.thing("variable", 0, text[:LONGEST_NAME]), float(rows),
                                       float(outputs_are_the_column), site=self.recorder.writer.site(path, line, function))  # fmt: skip


def shapes_of(output, beside):
    """How many rows there are, and whether the outputs are a column, (rows, 1), and all targets a row, (rows,), or the
    other way round; None where neither is so. A batch of one row tells nothing, and counts as both."""
    if not tensors.is_plain(output) or not beside or not all(map(tensors.is_plain, beside)):
        return None
    shapes, rows = {tuple(target.shape) for target in beside}, output.shape[0] if output.dim() > 0 else 0
    if output.shape == (rows, 1) and shapes == {(rows,)}:
        return rows, True
    return (rows, False) if output.shape == (rows,) and shapes == {(rows, 1)} else None

"""Looks whether several kinds of numbers share the rows of one embedding: users and items are looked up in a table that
has a row for each of both, but the numbers of the items begin with 0 again.
"""

from ..torch_api.attributes import attribute

MOST_COLUMNS, STEPS = 16, 8
ROWS_EACH = 4  # times as many numbers of each kind as the table has rows
LEAST_FILLED, UNLIKE = 0.9, 1.1  # share of the table that the kinds need; how far the largest of two differ


class ColumnsOfIds:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.known = {}  # by thing of an embedding: its Columns; None once it was judged

    def add(self, layer, thing, given):
        """After a call of an embedding in training, in a sampled step."""
        columns = self.known.setdefault(thing, Columns())
        if columns is None:
            return
        calls = columns.begin(self.recorder.step)
        wide = given if given.dim() == 2 else given.reshape(-1, 1)
        if given.dim() > 2 or calls + wide.shape[1] > MOST_COLUMNS or not given.numel():
            self.known[thing] = None
            return
        columns.add(wide)
        rows = attribute(layer, "num_embeddings", 0)
        if columns.steps >= STEPS and columns.fewest() >= ROWS_EACH * rows:
            self.known[thing] = None
            if columns.share_rows(rows):
                self.recorder.quantity("shared_rows", thing, float(len(columns.largest)), float(rows), self.sites.current())


class Columns:
    """Of what an embedding is asked for in a step, each column of each call is one kind."""

    def __init__(self):
        self.step, self.steps, self.calls = -1, 0, 0
        self.least, self.largest, self.counts = [], [], []

    def begin(self, step):
        if step != self.step:
            self.step, self.steps, self.calls = step, self.steps + 1, 0
        return self.calls

    def add(self, wide):
        least, largest = wide.amin(0).tolist(), wide.amax(0).tolist()
        for place, (low, high) in enumerate(zip(least, largest), self.calls):
            if place == len(self.counts):
                self.least.append(low)
                self.largest.append(high)
                self.counts.append(0)
            self.least[place], self.largest[place] = min(self.least[place], low), max(self.largest[place], high)
            self.counts[place] += wide.shape[0]
        self.calls += len(least)

    def fewest(self):
        return min(self.counts)

    def share_rows(self, rows):
        """All kinds begin at 0 and together need the table, of which they use no more than the largest kind."""
        needed, largest, least = sum(self.largest) + len(self.largest), max(self.largest), min(self.largest)
        if len(self.largest) < 2 or largest < UNLIKE * (least + 1) or not LEAST_FILLED * rows <= needed <= rows:
            return False
        return all(low <= (high + 1) * (1 - LEAST_FILLED) for low, high in zip(self.least, self.largest))

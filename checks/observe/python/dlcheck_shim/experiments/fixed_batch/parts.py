"""The micro-batches of a step: batches that it fetches one after another, or parts that it cuts a batch
into; and other ones made of the same samples.

Each kind has `count`, `sizes` (samples of each), `words`, and functions that give what `Held.dealt` takes:
`whole` for micro-batches that change places, `mixed` for single samples, which are (micro-batch, row).
"""

import copy

from ...hooks.loader_facts import DRAWN
from .batches import Unarrangeable, form_of, joined, rows_of, samples_of, with_orders
from .fetches import undrawn
from .orders import permuted
from .unjudged import Unjudged

ONE = "one micro-batch makes a step"
UNKNOWN = "how the batch is split into samples is unknown"


def parts_of(held):
    """Raises Unjudged where a step has one micro-batch, or where they stand in an order that means
    something."""
    several = [source for source in held.fetches.sources if len(source.batches) > 1]
    if several:
        return Fetched(several)
    calls = held.whole.first_calls()
    apart = len(calls) > 1
    calls = calls if apart else held.whole.calls
    if len(calls) < 2:
        raise Unjudged(ONE)
    reason = held.fetches.why_not()
    if reason:
        raise Unjudged(reason)
    return Cut(held.fetches.stacked(), calls, apart)


def drawn_at_random(sources):
    if any(source.origin.order not in DRAWN for source in sources):
        raise Unjudged("the DataLoader does not shuffle")


class Fetched:
    """Batches of loaders."""

    def __init__(self, sources):
        drawn_at_random(sources)
        counts = {len(source.batches) for source in sources}
        if len(counts) > 1:
            raise Unjudged("the DataLoaders yield different numbers of batches per step")
        self.sources, self.count = sources, counts.pop()
        self.words = f"{self.count} batches that a step fetches"
        self.turns, self.pools, self.sizes = True, None, []

    def whole(self, order):
        return lambda source: (
            [source.batches[number] for number in order] if source in self.sources else source.batches)

    def open(self):
        """To be called before samples are mixed. Says whether they are those of the step as it was."""
        if not all(source.stacks for source in self.sources):
            raise Unjudged("the batches have no row per sample")
        alike = all(form_of(batch) == source.form for source in self.sources for batch in source.batches)
        try:
            self.pools = [(Rows if alike else Samples)(source) for source in self.sources]
        except Unarrangeable as error:
            raise Unjudged(str(error)) from None
        if len(self.pools) > 1 and not alike:
            raise Unjudged("rows of a batch differ in shape")
        self.sizes = self.pools[0].sizes
        if any(pool.sizes != self.sizes for pool in self.pools):
            raise Unjudged("the batches of the DataLoaders differ in size")
        return alike

    def mixed(self, table):
        made = {id(pool.source): [pool.made(part) for part in table] for pool in self.pools}
        return lambda source: made.get(id(source), source.batches)


class Rows:
    """Batches whose rows are alike."""

    def __init__(self, source):
        self.source = source
        self.sizes = [samples_of(batch) for batch in source.batches]
        self.pool = joined(source.batches)

    def made(self, part):
        numbers = [sum(self.sizes[:micro]) + row for micro, row in part]
        return with_orders(self.pool, lambda *_: numbers)


class Samples:
    """Where the shape of a row depends on the others of its batch: samples that the loader draws, put
    together by its own function."""

    def __init__(self, source):
        self.source, origin = source, source.origin
        try:
            draws = iter(origin.batches)
            self.samples = undrawn(lambda: [
                [origin.data[index] for index in next(draws)] for _ in source.batches])  # fmt: skip
        except Exception as error:  # the program's own code, called when it does not expect it
            raise Unjudged(f"no new samples could be drawn: {type(error).__name__}") from None
        self.sizes = [len(samples) for samples in self.samples]

    def made(self, part):
        samples = [copy.deepcopy(self.samples[micro][row]) for micro, row in part]
        try:
            return undrawn(self.source.origin.collate, samples)
        except Exception as error:
            raise Unjudged(f"the samples could not be collated: {type(error).__name__}") from None


class Cut:
    """Parts of a batch, one after another. How many rows each has is told by the shapes that the loss
    functions before each backward call compare, or all of them before a single one."""

    def __init__(self, sources, calls, apart):
        drawn_at_random(sources)
        if any(call is None for call in calls):
            raise Unjudged(UNKNOWN)
        lengths = [rows_of(call.outputs) if call.outputs.dim() else 0 for call in calls]
        rows = {samples_of(source.batches[0]) for source in sources}
        count = rows.pop()
        if set(lengths) == {count} or len({call.function for call in calls}) > 1:
            raise Unjudged(ONE)
        each, rest = divmod(sum(lengths), count)
        if each > 1 and not apart:  # several losses of one micro-batch
            raise Unjudged(ONE)
        if rows or rest or not each or any(length % each for length in lengths):
            raise Unjudged(UNKNOWN)
        self.sources, self.count = sources, len(lengths)
        self.sizes = [length // each for length in lengths]
        self.words = f"{self.count} parts that a batch is cut into"
        self.turns = len(set(self.sizes)) == 1

    def whole(self, order):
        return self.mixed([[(micro, row) for row in range(self.sizes[micro])] for micro in order])

    def open(self):
        return True

    def inside(self):
        """Samples change places, each in its own part."""
        return self.mixed([[(micro, row) for row in permuted(size)] for micro, size in enumerate(self.sizes)])

    def mixed(self, table):
        numbers = [sum(self.sizes[:micro]) + row for part in table for micro, row in part]

        def deal(source):
            return [with_orders(batch, lambda *_: numbers) for batch in source.batches]

        return lambda source: deal(source) if source in self.sources else source.batches

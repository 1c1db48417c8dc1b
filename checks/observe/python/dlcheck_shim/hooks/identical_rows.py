"""Looks for batches whose rows are all equal: one sample that was expanded, or views of one buffer."""

from ..torch_api import tensors
from ..torch_api.on_host import is_at_hand

FEWEST_BATCHES, MOST_KINDS = 6, 16  # compared ones in a row; kinds of batches that are told apart
FEWEST_ROWS, FEWEST_COLUMNS, MOST_ELEMENTS = 8, 2, 1 << 20


class IdenticalRows:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.enters = guard.isolated("rows")(self.enters)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        # By what a row looks like, and whether gradients are recorded: batches of equal rows, and the row of the last
        # one; None of a kind that is left alone.
        self.kinds = {}

    def subscribe(self, moments):
        moments.batch_compared.append(lambda inputs: self.enters(inputs, True))
        moments.evaluation_batch.append(lambda inputs: self.enters(inputs, False))

    def enters(self, inputs, trains):
        given = next((each for each in inputs if tensors.is_plain(each)), None)
        if given is None or given.dim() < 2 or given.shape[0] < FEWEST_ROWS or given.requires_grad:
            return
        kind = (trains, *given.shape[1:])
        count, before = self.kinds.get(kind, (0, None)) or (None, None)
        if count is None or len(self.kinds) == MOST_KINDS and kind not in self.kinds:
            return
        if not is_looked_at(given) or not tensors.may_compute():
            self.kinds[kind] = None
            return
        others = [each for each in inputs if tensors.is_plain(each) and each is not given and each.dim() > 0]
        with tensors.unrecorded():
            self.kinds[kind] = self.next(given.detach(), count, before) if all(map(is_one_row, others)) else None

    def next(self, given, count, before):
        row = given[0]
        is_one = bool((given[1] == row).all()) and bool((given == row).all()) and bool((row != row.reshape(-1)[0]).any())
        if not is_one or before is not None and before.equal(row):
            return None
        if count + 1 < FEWEST_BATCHES:
            return count + 1, row.clone()
        thing = self.recorder.thing("batch", 0, "input")
        self.recorder.quantity("identical_rows", thing, float(given.shape[0]), float(count + 1), self.sites.current(always=True))
        return None


def is_one_row(given):
    """Whether what is given beside the batch tells its rows apart in no way."""
    return tensors.is_readable(given) and is_at_hand(given) and bool((given.detach() == given.detach()[:1]).all())


def is_looked_at(given):
    is_known = tensors.is_readable(given) and is_at_hand(given) and given.is_floating_point()
    return is_known and given.numel() <= MOST_ELEMENTS and given.numel() // given.shape[0] >= FEWEST_COLUMNS

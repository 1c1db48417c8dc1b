"""Which of the values behind a loss, gradients or weights that are not finite is the one to name."""

from . import flow, numbers
from .places import FORWARD, UPDATE

PARAMETER, BUFFER = "parameter", "buffer"


class Origin:
    def __init__(self, value, kind, name, samples):
        self.value, self.kind, self.name = value, kind, name
        self.samples = samples  # (the first few, how many) of the batch, or None


def origin_of(roots, names, batch):
    """`names`: what is known of storages, as (kind, name). None if there is nothing to name."""
    values = flow.behind(roots)
    found = [ranked(value, names) for value in values if value.is_origin()]
    if not found:
        return None
    _, _, value, (kind, name) = min(found, key=lambda entry: entry[:2])
    samples = None if kind in (PARAMETER, BUFFER) else samples_of(value, values, batch)
    return Origin(value, kind, name, samples)


def ranked(value, names):
    """What was given comes before what was made of it, and what may be meant comes last."""
    known = names.get(flow.number_of(value.tensor)) if value.kind == flow.GIVEN else None
    if known is not None and (known[0] == PARAMETER or value.has_nan):
        return 0, value.number, value, known
    lone = value.kind == flow.GIVEN and value.tensor.dim() == 0
    kind = flow.FILLED if lone else flow.BORN if value.kind == flow.PASSED else value.kind
    name = f"aten::{value.operation}"
    if lone or value.is_meant():
        return 3, value.number, value, known or (kind, name)
    return (1 if kind == flow.GIVEN else 2), value.number, value, (kind, name)


def path_of(origin, roots):
    """The values through which what is not finite went on, from the origin to the first of `roots`, one of the
    shortest ways."""
    waiting, seen = [(root, (root,)) for root in roots], set()
    while waiting:
        value, path = waiting.pop(0)
        if value is origin:
            return path[::-1]
        if value.number not in seen:
            seen.add(value.number)
            waiting += [(given, (*path, given)) for given in value.inputs]
    return ()


def samples_of(origin, values, batch):
    """Of the value itself or, where it has no row for each sample, the first one after it that has."""
    for value in values:
        if value.number < max(origin.number, batch.since + 1) or not batch.has_row_each(value):
            continue
        _, rows, count = value.rows
        if value is origin or count < batch.samples:
            return rows, count
    return None


class Batch:
    """The batch of the step: how many samples it has, the number of the last value before it was there as
    a whole, and the shapes of parameters, whose gradients have rows that are no samples."""

    def __init__(self, samples, since, shapes):
        self.samples, self.since = samples, since
        self.shapes = shapes | {shape[::-1] for shape in shapes}

    def has_row_each(self, value):
        if value.rows is None or value.rows[0] != self.samples or value.place.phase == UPDATE:
            return False
        return value.place.phase == FORWARD or value.shape not in self.shapes


def listed(samples, batch):
    """"4 and 9", "0, 1, 2, 3, 4, 5, 6, 7 and 3 more", or "all"."""
    rows, count = samples
    if count == batch.samples:
        return "all"
    texts = [str(row) for row in rows]
    if count > numbers.MOST_ROWS:
        return f"{', '.join(texts)} and {count - len(rows)} more"
    return texts[0] if count == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"

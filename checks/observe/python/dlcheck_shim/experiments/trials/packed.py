"""PACK: documents that share a row do not see each other."""

import torch

from .bench import distance, floating
from .blame import Places, blame
from .documents import marks_of

LEAST = 1e-6  # of an output's norm: motion at one position that is no rounding


def try_packed(trial):
    """Writes how far outputs move at documents whose tokens stay while others of their row change, and,
    where they do, how many positions the marks keep apart. Applies where an input marks the documents."""
    marks = marks_of(trial.call.tensors())
    if marks is None:
        return
    rows = Rows(trial, marks)
    before, again = rows.outputs(), rows.outputs()
    if not before:
        return trial.give_up("packed", "no output has a position per token")
    rounding = max(map(distance, before, again))
    afters = [(changed, rows.outputs(rows.changes(changed))) for changed in rows.parts()]
    if all(largest(before, after, changed) <= rounding for changed, after in afters):
        return trial.give_up("packed", "the outputs do not depend on the tokens")
    shares = [largest(before, after, rows.kept(changed)) for changed, after in afters]
    share = max(shares)
    if share > rounding:
        apart = separation(rows, before, afters)
        if not apart and are_values(rows, before, rounding):
            return trial.give_up("packed", "the model uses the document numbers as values")
        if apart is not None:
            trial.write("document_separation", apart, float(marks.order.max()) + 1)
        trial.write("document_sensitivity", share, rounding, crosses(rows, afters[shares.index(share)][0], rounding))
    else:
        trial.write("document_sensitivity", share, rounding)


class Rows:
    """Rows of documents, and what is tried on them."""

    def __init__(self, trial, marks):
        self.trial, self.marks = trial, marks
        self.tokens, self.order = marks.tokens, marks.order
        kept = self.order >= 0
        first = torch.ones_like(kept)
        first[..., 1:] = self.order[..., 1:] != self.order[..., :-1]
        last = first.roll(-1, -1)
        # A token that begins or ends every document may be where a model sees that it does.
        borders = [self.tokens[kept & end].unique() for end in (first, last)]
        self.borders = torch.cat([b for b in borders if b.numel() == 1] + [self.tokens.new_empty(0)])
        self.inner = kept & ~torch.isin(self.tokens, self.borders)

    def parts(self):
        """Which documents change: of each two neighbors one, then the other; the first; the last."""
        even = self.order % 2 == 0
        ends = self.order == 0, self.order == self.order.amax(-1, keepdim=True)
        return [chosen & (self.order >= 0) for chosen in (even, ~even, *ends)]

    def kept(self, changed):
        return (self.order >= 0) & ~changed

    def changes(self, changed):
        """(tensor, other tensor): the tokens of these documents replaced by others, where they stand."""
        known = self.tokens[self.inner].unique()
        other = known[(torch.searchsorted(known, self.tokens) + 1) % known.numel()]
        changed_tokens = torch.where(changed & self.inner, other, self.tokens)
        same = [t for t in self.trial.call.tensors()
                if t.dtype == self.tokens.dtype and torch.equal(t, self.tokens)]  # fmt: skip
        return [(t, changed_tokens) for t in same]

    def outputs(self, changes=(), look=None):
        """Those of the model that hold a position for each token, under replaced inputs."""
        def change(tensor):
            return next((other for given, other in changes if given is tensor), tensor)

        return self.at_tokens(self.trial.outputs(self.trial.call.changed(change), look))

    def at_tokens(self, value):
        return [t for t in floating(value) if t.shape[: self.tokens.dim()] == self.tokens.shape]

    def moved(self, before, after, least):
        """bool like the tokens: where an output moved by more than this share of its size at one."""
        found = torch.zeros_like(self.inner)
        for a, b in zip(before, after):
            a, b = a.double(), b.double()
            by = (b - a).reshape(found.numel(), -1).norm(dim=1)
            found |= (by > least * a.norm() / found.numel() ** 0.5).view_as(found)
        return found


def largest(before, after, where):
    return max(distance(a[where], b[where]) for a, b in zip(before, after))


def separation(rows, before, afters):
    """Share of the positions that see other documents where each row is marked as one, and that do not
    where the marks are the program's; None where that cannot be tried."""
    if not rows.marks.are_safe_to_merge():
        return None
    merged = rows.marks.merged()
    try:
        one = rows.outputs(merged)
        apart = could = 0
        for changed, after in afters:
            seen = rows.moved(one, rows.outputs([*merged, *rows.changes(changed)]), LEAST)
            seen &= rows.kept(changed)
            apart += int((seen & ~rows.moved(before, after, 0.0)).sum())
            could += int(seen.sum())
    except Exception:  # a position that the model does not know
        return None
    return apart / could if could else None


def are_values(rows, before, rounding):
    """True where other numbers for the same documents give other outputs, as if they were embedded."""
    other = rows.marks.renumbered()
    return bool(other) and max(map(distance, before, rows.outputs(other))) > rounding


def crosses(rows, changed, rounding):
    """The line of the innermost module in which documents begin to see these ones."""
    kept = rows.kept(changed)
    seen, seen_changed = (Places(rows.trial, lambda value: [t[kept] for t in rows.at_tokens(value)]) for _ in range(2))
    rows.outputs((), seen.look)
    rows.outputs(rows.changes(changed), seen_changed.look)
    return blame(rows.trial, "crosses_in", seen, seen_changed, rounding)

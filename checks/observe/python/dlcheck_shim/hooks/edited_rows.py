"""Tells of inputs that a program changes in place, again and again: each time by the same factor and shift."""

import weakref

import torch

from ..torch_api import private, tensors
from ..torch_api.on_host import on_host

MOST_KEPT, MOST_ENTRIES = 256, 64
EXACT, MARGIN = 1e-4, 1e-3  # of what a factor and shift leave over; of a change that counts


class EditedRows:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.enters = guard.isolated("rows")(self.enters)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.kept, self.changed = {}, 0  # by place in memory: reference to whose memory it is, and its Edits

    def subscribe(self, moments):
        moments.batch_enters.append(self.enters)

    def enters(self, inputs):
        """A training batch that is a part of a larger tensor, or a tensor that enters again and again."""
        rows = next((i for i in inputs if tensors.is_readable(i) and i.is_floating_point()), None)
        if rows is None or rows.requires_grad or rows.dim() < 2 or not tensors.may_compute():
            return
        owner = private.base_of(rows)
        key = (rows.data_ptr(), rows.shape, rows.stride())
        reference, edits = self.kept.get(key, (None, None))
        if reference is None or reference() is not owner:
            if len(self.kept) >= MOST_KEPT:
                return
            edits = Edits()
            self.kept[key] = (weakref.ref(owner), edits)
        with tensors.unrecorded():
            if (given := on_host(rows)).is_cpu and edits.again(given):
                self.changed += 1
                thing = self.recorder.thing("batch", 0, "input")
                self.recorder.quantity("edited_samples", thing, float(self.changed), site=self.sites.current())


class Edits:
    """What some rows held when they were last used, and how they had changed until then."""

    def __init__(self):
        self.values, self.change = None, None

    def again(self, rows):
        """Whether they have changed twice in a row by the same factor and shift, which is not random."""
        values = rows.detach().reshape(-1)[:MOST_ENTRIES].to(torch.float64, copy=True)
        before, self.values = self.values, values
        if before is None or before.shape != values.shape or torch.equal(before, values):
            return False
        change, earlier = affine(before, values), self.change
        self.change = change
        if change is None or earlier is None:
            return False
        return all(abs(new - old) <= MARGIN * max(abs(new), abs(old), MARGIN) for new, old in zip(change, earlier))


def affine(before, after):
    """(factor, shift) that make all of one vector the other; None where no such pair does."""
    centered = before - before.mean()
    size = float(centered.square().sum())
    if before.numel() < 4 or size == 0:
        return None
    factor = float(centered @ (after - after.mean())) / size
    shift = float(after.mean()) - factor * float(before.mean())
    left = (after - factor * before - shift).abs().amax()
    if factor == 0 or float(left) > EXACT * float(after.abs().amax()):
        return None
    return factor, shift

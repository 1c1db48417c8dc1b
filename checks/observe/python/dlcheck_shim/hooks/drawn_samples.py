"""Follows which samples of a data set are drawn, and what a few of them hold each time: samples that no pass draws,
and samples that each pass changes in the same way.
"""

import torch

from ..torch_api import private, tensors
from ..torch_api.on_host import is_at_hand
from ..torch_api.wrapping import followed_by, replace
from .edited_rows import Edits
from .mirrored_samples import Mirrors

MOST_SAMPLES = 1 << 16  # of a data set that is followed
MOST_FOLLOWED = 8  # samples whose numbers are kept
FEWEST_PASSES = 3


class DataSet:
    """Of the loaders that share a data set."""

    def __init__(self):
        self.drawn, self.size, self.chosen = set(), None, False
        self.known, self.settled = 0, 0  # samples drawn until the last pass ended; passes since then without a new one
        self.loader, self.site = None, 0
        self.indices, self.edits = [], {}  # of the batch under way; by index of a sample
        self.mirrors = Mirrors()


class DrawnSamples:
    def __init__(self, guard, recorder, sites, loaders):
        self.recorder, self.sites, self.loaders, self.guard = recorder, sites, loaders, guard
        self.indices, self.fetched = guard.isolated("samples")(self.indices), guard.isolated("samples")(self.fetched)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.sets, self.changed = {}, 0  # by number of the object

    def watch_all(self):
        replace([private.LoaderIterator], private.NEXT_INDEX,
                followed_by(lambda result, args, _: self.indices(args[0], result)))  # fmt: skip
        self.loaders.on_batch.append(self.fetched)
        self.loaders.on_end.append(self.ends_pass)

    def indices(self, iterator, drawn):
        """A loader has drawn the samples of a batch."""
        iteration = self.loaders.iterations.get(iterator)
        numbers = drawn if isinstance(drawn, list) else [drawn]
        if iteration is None or not all(type(number) is int for number in numbers):
            return
        facts = iteration[0]
        found = self.sets.setdefault(facts.key[0], DataSet())
        if found.loader is None:
            found.loader, found.site = facts, self.sites.current(always=True)
        found.chosen |= facts.chooses
        if len(found.drawn) < MOST_SAMPLES:
            found.drawn.update(numbers)
        found.indices = numbers if facts.attributes["workers"] == 0 and facts.stacks else []

    def fetched(self, facts, batch):
        found = self.sets.get(facts.key[0])
        rows = batch[0] if isinstance(batch, (list, tuple)) and batch else batch
        if found is None or not found.indices or not tensors.is_readable(rows) or not rows.is_floating_point():
            return
        numbers, found.indices = found.indices, []
        targets = batch[1] if isinstance(batch, (list, tuple)) and len(batch) == 2 else None
        if rows.dim() < 2 or rows.shape[0] != len(numbers) or not is_at_hand(rows) or not tensors.may_compute():
            return
        for place, number in enumerate(numbers):
            if number in found.edits or len(found.edits) < MOST_FOLLOWED:
                with tensors.unrecorded():
                    if found.edits.setdefault(number, Edits()).again(rows[place]):
                        self.changed += 1
                        thing = self.recorder.thing("batch", 0, "input")
                        self.recorder.quantity("edited_samples", thing, float(self.changed), site=found.site)
                    if isinstance(targets, torch.Tensor) and targets.dim() and targets.shape[0] == len(numbers):
                        self.compare(found, number, rows[place], targets[place])

    def compare(self, found, number, image, target):
        if found.mirrors.again(number, image, target):
            thing = self.recorder.thing("batch", 0, "input")
            self.recorder.quantity("mirrored_samples", thing, float(found.mirrors.count), site=found.site)

    def ends_pass(self, facts):
        found = self.sets.get(facts.key[0])
        if found is not None:
            found.size = facts.samples
            found.settled = found.settled + 1 if len(found.drawn) == found.known else 0
            found.known = len(found.drawn)

    def write(self):
        """As the run ends."""
        for found in self.sets.values():
            if found.settled < FEWEST_PASSES - 1 or found.chosen or not found.size or found.size > MOST_SAMPLES:
                continue
            missing = found.size - len(found.drawn)
            if missing > 0:
                self.recorder.quantity("undrawn_samples", self.loaders.thing(found.loader), float(missing),
                                       float(found.size), found.site)  # fmt: skip


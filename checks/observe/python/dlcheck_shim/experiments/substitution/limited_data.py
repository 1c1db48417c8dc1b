"""The experiment limited_data: every pass over a loader is over the same few batches of the same samples,
so that the same inputs come by again and again.
"""

import torch

from ...hooks.loader_facts import batch_size_of
from ...hooks.loss import KINDS
from ...record.digest import digest
from ...record.identity import IdentityMap
from ...torch_api import private
from ...torch_api.wrapping import replace
from .substitutes import StandIns

BATCHES = 4  # of a pass over a loader


class LimitedData(StandIns):
    """Writes of each step whose inputs were there before whether its targets are those of then."""

    def __init__(self, watch, refuse):
        super().__init__(watch, refuse)
        # By data set, as a program may make a loader for each pass: that, which may be a mere list, and
        # by the size of the batches the samples of the first ones.
        self.chosen = {}
        # By iterator: what was chosen of its data set, and how many batches it gave.
        self.passes = IdentityMap()
        self.known = {}  # digests of all targets of a step, by those of all its inputs
        self.inputs, self.targets = [], []  # digests, of this step

    def begin(self):
        super().begin()
        iterator = private.LoaderIterator
        replace([iterator], "__init__", self.watched_start)
        replace([iterator], private.RESET, self.watched_start)
        replace([iterator], private.NEXT_INDEX, self.watched_next_index)
        for function in KINDS:
            replace([torch.nn.functional], function, self.watched_loss)

    def watched_start(self, original):
        """A pass begins; with workers, it asks for some batches before it has begun."""

        def start(iterator, loader=None, *args, **kwargs):
            if loader is not None:
                self.passes.set(iterator, [self.chosen_of(loader), 0])
            given = () if loader is None else (loader,)
            return original(iterator, *given, *args, **kwargs)

        return start

    def watched_next_index(self, original):
        def next_index(iterator):
            begun = self.passes.get(iterator)
            if begun is None:
                return original(iterator)
            (chosen, place), begun[1] = begun, begun[1] + 1
            if place >= BATCHES:
                raise StopIteration
            if place == len(chosen):
                chosen.append(original(iterator))
            return chosen[place]

        return next_index

    def chosen_of(self, loader):
        _, known = self.chosen.setdefault(id(loader.dataset), (loader.dataset, {}))
        return known.setdefault(batch_size_of(loader), [])

    def stand_in(self, place, tensors):
        if tensors:
            self.inputs.append(digest(tensors))
        return tensors

    def watched_loss(self, original):
        def loss(input, target, *args, **kwargs):
            if torch.is_grad_enabled() and input.requires_grad and not target.requires_grad:
                self.targets.append(digest([target]))
            return original(input, target, *args, **kwargs)

        return loss

    def end_step(self):
        super().end_step()
        inputs, targets = tuple(self.inputs), tuple(self.targets)
        self.inputs, self.targets = [], []
        if not inputs or not targets:
            return
        if inputs in self.known:
            changed = float(self.known[inputs] != targets)
            self.watch.recorder.quantity("changed_targets", 0, changed, float(len(targets)))
        self.known[inputs] = targets

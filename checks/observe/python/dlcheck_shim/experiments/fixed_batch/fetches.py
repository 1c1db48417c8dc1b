"""The batches that loaders hand out in one step, and what is handed out in their place from then on."""

import copy

import torch

from ...hooks.loader_facts import innermost_sampler, order_of
from ...record.identity import IdentityMap
from ...torch_api import private
from ...torch_api.wrapping import replace
from ..trials.bench import Randomness
from .batches import Unarrangeable, form_of, leaves_of, samples_of
from .collation import stacks
from .orders import FEWEST


class Origin:
    """What is known of the loader behind an iterator, which may be gone."""

    def __init__(self, loader):
        self.data, self.batches, self.collate = loader.dataset, loader.batch_sampler, loader.collate_fn
        self.order = order_of(innermost_sampler(loader))


class Source:
    """The batches of one data set that a step fetches, in their order."""

    def __init__(self, number, origin):
        self.number, self.origin = number, origin
        self.stacks, self.form = False, None
        self.batches, self.arranged, self.fetched = [], [], 0

    def next(self):
        self.fetched += 1
        return copy.deepcopy(self.arranged[(self.fetched - 1) % len(self.arranged)])


class Fetches:
    """`on_fetch` is a function that is called after each fetch, `refuse` one that takes a reason."""

    def __init__(self, watch, on_fetch, refuse):
        self.watch, self.on_fetch, self.refuse = watch, on_fetch, refuse
        self.origins, self.sources = IdentityMap(), []
        self.keeping = self.holding = False

    def begin(self):
        replace([torch.utils.data.DataLoader], "__iter__", self.watched_iter)
        iterator = private.LoaderIterator
        replace([iterator], "__next__", self.watched_next)

    def watched_iter(self, original):
        """What a loader draws for its order and its workers is no part of a step."""

        def begin(loader):
            iterator = undrawn(original, loader)
            self.origins.set(iterator, Origin(loader))
            return iterator

        return begin

    def watched_next(self, original):
        def next_batch(iterator):
            if self.watch.guard.elsewhere():
                return original(iterator)
            batch = undrawn(original, iterator)
            origin = self.origins.get(iterator)
            batch = batch if origin is None else self.handed_out(origin, batch)
            self.on_fetch()
            return batch

        return next_batch

    def handed_out(self, origin, batch):
        if self.keeping:
            source = self.source_of(origin)
            if source is None:
                source = Source(len(self.sources), origin)
                self.sources.append(source)
            source.batches.append(self.copied(batch))
        elif self.holding:
            source = self.source_of(origin) or self.source_like(batch)
            return batch if source is None else source.next()
        return batch

    def source_of(self, origin):
        return next((s for s in self.sources if s.origin.data is origin.data), None)

    def source_like(self, batch):
        """The only source of such batches: a program may make a data set anew for each epoch."""
        form = form_of(batch)
        found = [source for source in self.sources if source.form == form]
        return found[0] if len(found) == 1 else None

    def copied(self, batch):
        try:
            return copy.deepcopy(batch)
        except Exception as error:  # whatever a class of the program raises
            self.refuse(f"the batches cannot be copied: {type(error).__name__}")

    def hold(self):
        """From now on the batches that were kept stand in for all that are fetched."""
        self.keeping, self.holding = False, True
        for source in self.sources:
            source.form = form_of(source.batches[0])
        self.arrange(as_they_are)

    def ask_loaders(self):
        """Finds out which of them stack samples; of others no batch is arranged."""
        for source in self.sources:
            source.stacks = undrawn(stacks, source.origin)

    def end_step(self):
        for source in self.sources:
            source.fetched = 0

    def are_complete(self):
        """Whether this step fetched as many batches as the one that was kept."""
        return all(source.fetched >= len(source.batches) for source in self.sources)

    def counts(self):
        """How many batches this step fetched of each source."""
        return [source.fetched for source in self.sources]

    def stacked(self):
        return [source for source in self.sources if source.stacks]

    def why_not(self):
        """Why the batches that are held cannot be arranged; None where they can."""
        if not self.sources:
            return "no batch of a DataLoader was fetched in the second step"
        if not self.stacked():
            return "the batches have no row per sample"
        try:
            fewest = self.fewest_samples()
        except Unarrangeable as error:
            return str(error)
        return None if fewest >= FEWEST else f"the batch has fewer than {FEWEST} samples"

    def fewest_samples(self):
        return min(samples_of(batch) for source in self.stacked() for batch in source.batches)

    def leaves(self):
        """(number of the source, number of the leaf) of all leaves that can be arranged."""
        return [(source.number, number) for source in self.stacked()
                for number in range(len(leaves_of(source.batches[0])))]  # fmt: skip

    def arrange(self, change):
        """From the next fetch on, `change(number of the source, batch)` stands in for every batch that
        can be arranged."""
        def deal(source):
            made = change if source.stacks else as_they_are
            return [made(source.number, batch) for batch in source.batches]

        self.deal(deal)

    def deal(self, deal):
        """From the next fetch on, the batches of `deal(source)` stand in for those of each source."""
        for source in self.sources:
            source.arranged = deal(source)

    def order(self):
        """What the loaders draw samples by: "random" where all do."""
        orders = {source.origin.order for source in self.stacked()}
        return orders.pop() if len(orders) == 1 else "other"


def as_they_are(_, batch):
    return batch


def undrawn(function, *args):
    """Calls a function and puts back what it draws."""
    before = Randomness()
    try:
        return function(*args)
    finally:
        before.restore()

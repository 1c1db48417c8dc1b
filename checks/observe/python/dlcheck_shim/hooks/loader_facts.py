"""What is known of a data loader."""

import types
import weakref

import torch

from ..record.identity import IdentityMap
from ..record.sites import OWN, kind_of
from ..torch_api.attributes import attribute
from ..torch_api.wrapping import tell_lengths

DRAWN = ("random", "distributed")  # orders that say nothing of the samples
MOST_SEEDS = 256  # of iterations that are told apart
MOST_WRAPPED = 4  # samplers of batches around one another, or subsets of a data set
UNKNOWN = "unknown"
# Samplers that leave out samples on purpose or by chance.
CHOOSING = ("RandomSampler", "WeightedRandomSampler", "SubsetRandomSampler", "DistributedSampler")


class Lengths:
    """How many samples data sets have. A `__len__` that the program wrote may count, or be slow: it is
    called by nobody but the program and torch, whose samplers tell what it gave."""

    def __init__(self):
        self.told = IdentityMap()

    def watch_all(self):
        data = torch.utils.data
        functions = [data.SequentialSampler.__iter__, data.SequentialSampler.__len__,
                     data.RandomSampler.num_samples.fget, data.RandomSampler.__iter__,
                     data.distributed.DistributedSampler.__init__,
                     data.distributed.DistributedSampler.__iter__]  # fmt: skip
        for function in functions:
            tell_lengths(function, self.tell)

    def tell(self, dataset, length):
        try:
            self.told.set(dataset, length)
        except TypeError:
            pass  # nothing refers to it weakly: a list, of which the length is asked
        return length

    def of(self, dataset):
        """None where there is none, or nobody was told it yet."""
        known = self.told.get(dataset)
        if known is not None or is_of_program(dataset):
            return known
        try:
            return len(dataset)
        except (TypeError, NotImplementedError):
            return None


def is_of_program(dataset):
    """Whether the program itself wrote what gives the length of a data set."""
    length = getattr(type(dataset), "__len__", None)
    return isinstance(length, types.FunctionType) and kind_of(length.__code__.co_filename) == OWN


class LoaderFacts:
    """What is kept of a loader, which is gone before its batches are where it was made in the line of
    the loop. One that is made again in its place, for the next epoch, has the same."""

    def __init__(self, loader, lengths, lines):
        self.loader = weakref.ref(loader)
        self.attributes = attributes_of(loader)
        self.key = (id(loader.dataset), *self.attributes.values())
        self.lengths = lengths
        self.line = lines.get(loader)  # (file, number) that built it; None where that was not seen
        self.data_line = line_of_data(loader.dataset, lines)
        self.samples = lengths.of(loader.dataset)
        self.dataset = reference_to(loader.dataset) if self.samples is None else nobody
        self.dealt = dealing_of(innermost_sampler(loader))
        self.is_stream = isinstance(loader.dataset, torch.utils.data.IterableDataset)
        self.chooses = type(innermost_sampler(loader)).__name__ in CHOOSING
        self.draws_each_once = draws_each_once(loader)
        self.stacks = is_stacking(loader.collate_fn)
        self.batch_size = batch_size_of(loader)
        self.thing = None  # until it is written
        self.seeds = {}  # iterations by the first number that torch drew for them
        self.alike, self.alike_told = 1, 1  # most iterations with one seed
        self.draws_alike = attribute(innermost_sampler(loader), "generator") in (None, loader.generator)

    def follows(self, other):
        return other.loader() is None and other.key == self.key

    def begins_with(self, seed):
        """Its sampler draws the order from the same generator right afterwards."""
        if seed is not None and self.draws_alike and (seed in self.seeds or len(self.seeds) < MOST_SEEDS):
            self.seeds[seed] = self.seeds.get(seed, 0) + 1
            self.alike = max(self.alike, self.seeds[seed])

    def told(self):
        """All attributes, as its first batch has been fetched: torch has asked for a length by then."""
        if self.samples is None:
            self.samples = self.lengths.of(self.dataset())
        found, samples = dict(self.attributes), self.samples
        if self.line is not None:
            found["built_file"], found["built_line"] = self.line
        if self.data_line is not None:
            found["data_file"], found["data_line"] = self.data_line
        if self.dealt is not None:
            dealt_to, total = self.dealt
            found["dealt_to"] = dealt_to
            if samples is not None:
                found["padding"] = max(total - samples, 0)
        if samples is not None or not self.is_stream:
            found["samples"] = UNKNOWN if samples is None else samples
        return found


def nobody():
    """In the place of a reference."""


def reference_to(dataset):
    try:
        return weakref.ref(dataset)
    except TypeError:
        return nobody


def line_of_data(dataset, lines):
    """(file, number) where the samples are made: where the program's own function for one begins, else the line that
    built the data set; None where neither is known."""
    for _ in range(MOST_WRAPPED):
        if type(dataset) is torch.utils.data.Subset:
            dataset = dataset.dataset
    for name in ("__getitem__", "__iter__"):
        makes = getattr(type(dataset), name, None)
        if isinstance(makes, types.FunctionType) and kind_of(makes.__code__.co_filename) == OWN:
            return makes.__code__.co_filename, makes.__code__.co_firstlineno
    return lines.get(dataset)


def attributes_of(loader):
    return {
        "dataset": type(loader.dataset).__name__,
        "batch_size": batch_size_of(loader),
        "workers": loader.num_workers,
        "order": order_of(innermost_sampler(loader)),
    }


def dealing_of(sampler):
    """To how many processes samples are dealt in equal parts, and how many those have together; None
    where they are not."""
    if not isinstance(sampler, torch.utils.data.distributed.DistributedSampler):
        return None
    return sampler.num_replicas, sampler.total_size


def is_stacking(collate):
    """True for what puts single samples together, a row each: torch's own function, and that of the
    Trainer of transformers, with or without what drops columns that the model does not take."""
    collate = attribute(collate, "data_collator", collate)
    home = attribute(collate, "__module__"), attribute(collate, "__name__")
    return collate is torch.utils.data.default_collate or home == (
        "transformers.data.data_collator", "default_data_collator")


def batch_size_of(loader):
    """0 if it is not known; a loader that is given a sampler of whole batches leaves it to that."""
    size = loader.batch_size or attribute(loader.batch_sampler, "batch_size")
    return size if isinstance(size, int) else 0


def innermost_sampler(loader):
    """What draws the samples: a sampler of whole batches holds it, and libraries wrap those again."""
    batches, depth = loader.batch_sampler, 0
    while batches is not None and depth < MOST_WRAPPED:
        inner = attribute(batches, "sampler")
        if isinstance(inner, torch.utils.data.Sampler):
            return inner
        batches, depth = attribute(batches, "batch_sampler"), depth + 1
    return loader.sampler


def draws_each_once(loader):
    """Whether a pass draws no sample twice; a sampler of batches that the program wrote may."""
    data, sampler = torch.utils.data, innermost_sampler(loader)
    if loader.batch_sampler is not None and type(loader.batch_sampler) is not data.BatchSampler:
        return False
    if isinstance(sampler, data.RandomSampler):
        return not attribute(sampler, "replacement", True)
    return isinstance(sampler, data.SequentialSampler)


def order_of(sampler):
    data = torch.utils.data
    if isinstance(sampler, data.SequentialSampler):
        return "sequential"
    if isinstance(sampler, (data.RandomSampler, data.WeightedRandomSampler)):
        return "random"
    if isinstance(sampler, data.SubsetRandomSampler):
        return "random"
    if isinstance(sampler, data.distributed.DistributedSampler):
        return "distributed" if sampler.shuffle else "sequential"
    return "other"

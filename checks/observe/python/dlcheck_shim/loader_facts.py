"""What is known of a data loader."""

import weakref

import torch

DRAWN = ("random", "distributed")  # orders that say nothing of the samples
MOST_WRAPPED = 4  # samplers of batches around one another


class LoaderFacts:
    """What is kept of a loader, which is gone before its batches are where it was made in the line of
    the loop. One that is made again in its place, for the next epoch, has the same."""

    def __init__(self, loader):
        self.loader = weakref.ref(loader)
        self.attributes = attributes_of(loader)
        self.key = (id(loader.dataset), *self.attributes.values())
        self.stacks = is_stacking(loader.collate_fn)
        self.batch_size = batch_size_of(loader)
        self.thing = None  # until it is written

    def follows(self, other):
        return other.loader() is None and other.key == self.key


def attributes_of(loader):
    found = {
        "dataset": type(loader.dataset).__name__,
        "batch_size": batch_size_of(loader),
        "workers": loader.num_workers,
        "order": order_of(innermost_sampler(loader)),
    }
    found |= dealing_of(innermost_sampler(loader))
    try:
        found["samples"] = len(loader.dataset)
    except (TypeError, NotImplementedError):
        pass
    return found


def dealing_of(sampler):
    """To how many processes samples are dealt in equal parts, and how many are repeated for that."""
    if not isinstance(sampler, torch.utils.data.distributed.DistributedSampler):
        return {}
    padding = max(sampler.total_size - len(sampler.dataset), 0)
    return {"dealt_to": sampler.num_replicas, "padding": padding}


def is_stacking(collate):
    """True for what puts single samples together, a row each: torch's own function, and that of the
    Trainer of transformers, with or without what drops columns that the model does not take."""
    collate = getattr(collate, "data_collator", collate)
    home = getattr(collate, "__module__", None), getattr(collate, "__name__", None)
    return collate is torch.utils.data.default_collate or home == (
        "transformers.data.data_collator", "default_data_collator")


def batch_size_of(loader):
    """0 if it is not known; a loader that is given a sampler of whole batches leaves it to that."""
    size = loader.batch_size or getattr(loader.batch_sampler, "batch_size", None)
    return size if isinstance(size, int) else 0


def innermost_sampler(loader):
    """What draws the samples: a sampler of whole batches holds it, and libraries wrap those again."""
    batches, depth = loader.batch_sampler, 0
    while batches is not None and depth < MOST_WRAPPED:
        inner = getattr(batches, "sampler", None)
        if isinstance(inner, torch.utils.data.Sampler):
            return inner
        batches, depth = getattr(batches, "batch_sampler", None), depth + 1
    return loader.sampler


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

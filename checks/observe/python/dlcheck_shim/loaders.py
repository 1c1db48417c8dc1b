"""Watches data loaders: what they hand out, in which order, how long that takes, and whether their
workers draw the same random numbers."""

import hashlib
import pickle
import random
import sys
import time
import weakref

import torch

from .identity import IdentityMap
from .wrapping import followed_by, replace

# Workers begin anew with every iteration; those of the first ones are looked at.
ITERATIONS_WITH_STREAMS = 4
MOST_WRAPPED = 4  # samplers of batches around one another


class Loaders:
    def __init__(self, guard, recorder):
        self.guard, self.recorder = guard, recorder
        self.waited = 0.0  # seconds since the last step ended
        self.reset()
        recorder.on_fork.append(self.reset_in_child)

    def reset(self):
        self.things, self.iterations = IdentityMap(), IdentityMap()
        self.seen, self.begun, self.drawn = 0, 0, False
        self.last = None  # the batch fetched last, if nothing was written of it
        self.handed_out = None  # a weak reference to the loader of the batch fetched last, its samples

    def reset_in_child(self):
        begun = self.begun
        self.reset()
        self.begun = begun

    def watch_all(self):
        iterator = torch.utils.data.dataloader._BaseDataLoaderIter
        begins = self.guard.isolated("fetch")(self.begins)
        replace([iterator], "__init__", followed_by(lambda _, args, __: begins(*args[:2])))
        self.fetched = self.guard.isolated("fetch")(self.fetched)
        replace([iterator], "__next__", self.watched_next)
        self.digests = self.guard.isolated("worker", anywhere=True)(stream_digests)
        self.write_streams = self.guard.isolated("worker", anywhere=True)(self.write_streams)
        fetcher = getattr(torch.utils.data._utils.fetch, "_MapDatasetFetcher", None)
        if fetcher is not None:
            replace([fetcher], "fetch", self.watched_fetch)

    def begins(self, iterator, loader):
        self.begun += 1
        self.iterations.set(iterator, [weakref.ref(loader), 0])

    def watched_next(self, original):
        def next_batch(iterator):
            if self.guard.elsewhere():
                return original(iterator)
            start = time.perf_counter()
            batch = original(iterator)
            self.waited += time.perf_counter() - start
            self.fetched(iterator, batch)
            return batch

        return next_batch

    def fetched(self, iterator, batch):
        iteration = self.iterations.get(iterator)
        if iteration is None:
            return
        place, iteration[1] = iteration[1], iteration[1] + 1
        samples = samples_of(batch)
        self.last, self.handed_out = None, (iteration[0], samples)
        if not self.recorder.sampled:
            self.recorder.event("fetched")
            self.last = (iteration[0], place, samples)
            return
        self.write_fetched(iteration[0], place, samples)

    def write_fetched(self, loader, place, samples, always=False):
        thing = 0 if loader() is None else self.thing(loader())
        self.recorder.event("fetched", thing, float(place), float(samples), always=always)

    def tell_last(self):
        """The batch that is about to be evaluated was fetched in a step that is not sampled."""
        last, self.last = self.last, None
        if last is not None:
            self.write_fetched(*last, always=True)

    def thing(self, loader):
        thing = self.things.get(loader)
        if thing is None:
            thing = self.recorder.thing("loader", self.seen, "")
            self.seen += 1
            self.things.set(loader, thing)
            for key, value in attributes_of(loader).items():
                self.recorder.attribute(thing, key, value)
        return thing

    def end_step(self, owner):
        waited, self.waited = self.waited, 0.0
        if self.recorder.sampled and self.seen:
            self.recorder.quantity("loader_wait", 0, waited, owner=owner)

    def watched_fetch(self, original):
        """In a worker: looks at its random generators around the first batch."""

        def fetch(fetcher, indices):
            info = torch.utils.data.get_worker_info()
            if info is None or self.drawn or self.begun > ITERATIONS_WITH_STREAMS:
                return original(fetcher, indices)
            self.drawn = True
            before = self.digests()
            batch = original(fetcher, indices)
            after = self.digests()
            if before and after:
                self.write_streams(info.id, before, after)
            return batch

        return fetch

    def write_streams(self, worker, before, after):
        used = [name for name, state in before.items() if state != after[name]]
        if not used:
            return
        recorder = self.recorder
        recorder.begin()
        for name in used:
            thing = recorder.thing("generator", worker, name)
            recorder.quantity("worker_stream", thing, before[name] >> 32, before[name] & 0xFFFFFFFF)
        recorder.finish()


def stream_digests():
    """By name of the generator, a number that says which state it is in."""
    found = {
        "torch": digest_of(bytes(torch.get_rng_state().tolist())),
        "python": digest_of(repr(random.getstate()).encode()),
    }
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        found["numpy"] = digest_of(pickle.dumps(numpy.random.get_state(legacy=False)))
    return found


def digest_of(content):
    # Python's own hash differs from process to process.
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def attributes_of(loader):
    found = {
        "dataset": type(loader.dataset).__name__,
        "batch_size": loader.batch_size or 0,
        "workers": loader.num_workers,
        "order": order_of(innermost_sampler(loader)),
    }
    try:
        found["samples"] = len(loader.dataset)
    except (TypeError, NotImplementedError):
        pass
    return found


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


def samples_of(batch):
    """The first dimension of the first tensor of a batch; 0 if there is none."""
    if isinstance(batch, torch.Tensor):
        return batch.shape[0] if batch.dim() else 1
    if isinstance(batch, dict):
        batch = batch.values()
    elif not isinstance(batch, (list, tuple)):
        return 0
    return next((n for n in map(samples_of, batch) if n), 0)

"""Watches data loaders: what they hand out, in which order, how long that takes, and whether their
workers draw the same random numbers."""

import collections.abc
import hashlib
import math
import pickle
import random
import sys
import weakref

import torch

from ..record.identity import IdentityMap
from ..record.sites import OURS, OWN, kind_of
from ..system import perf_counter
from ..torch_api import private
from ..torch_api.attributes import attribute
from ..torch_api.on_host import is_at_hand
from ..torch_api.tensors import is_readable
from ..torch_api.wrapping import Around, followed_by, replace
from .loader_facts import Lengths, LoaderFacts

# Workers begin anew with every iteration; those of the first ones are looked at.
ITERATIONS_WITH_STREAMS = 4
MOST_AHEAD = 64  # batches that may wait before they are used
MOST_TENSORS = 8  # of a batch, by which it is known again
MOST_COMPARED = 256  # entries of a tensor
MOST_LOADERS = 64  # that are told apart; a program may make one for each of thousands of tasks


class Loaders:
    def __init__(self, guard, recorder, sites):
        self.guard, self.recorder, self.sites = guard, recorder, sites
        self.waited = 0.0  # seconds since the last step ended
        self.lengths = Lengths()
        self.on_batch, self.on_end = [], []  # functions that are given the facts of a loader, and a batch of it
        self.reset()
        recorder.moments.begins_anew.append(self.reset_in_child)

    def reset(self):
        self.iterations, self.told_apart, self.lines = IdentityMap(), [], IdentityMap()
        self.seen, self.begun, self.drawn = 0, 0, False
        self.nonempty = 0  # iterations that gave a batch
        # Of batches that no model was called with: weak references to their tensors, what is written.
        self.waiting = collections.deque(maxlen=MOST_AHEAD)
        self.last, self.written = None, False  # the batch fetched last, until one enters a model
        self.handed_out = None  # the facts of the loader of the batch fetched last, its samples

    def reset_in_child(self):
        begun = self.begun
        self.reset()
        self.begun = begun

    def watch_all(self):
        self.lengths.watch_all()
        built = self.guard.isolated("fetch")(self.built)
        data = torch.utils.data
        for kind in (data.DataLoader, data.TensorDataset):
            replace([kind], "__init__", Around(lambda args, _: built(*args[:1])))
        iterator = private.LoaderIterator
        begins = self.guard.isolated("fetch")(self.begins)
        replace([iterator], "__init__", followed_by(lambda _, args, __: begins(*args[:2])))
        again = self.guard.isolated("fetch")(self.begins_again)
        replace([iterator], private.RESET, followed_by(lambda _, args, __: again(args[0])))
        self.fetched = self.guard.isolated("fetch")(self.fetched)
        self.ends = self.guard.isolated("fetch")(self.ends)
        replace([iterator], "__next__", Around(self.asks, self.gets, self.asked))
        self.digests = self.guard.isolated("worker", anywhere=True)(stream_digests)
        self.write_streams = self.guard.isolated("worker", anywhere=True)(self.write_streams)
        if private.MapFetcher is not None:
            replace([private.MapFetcher], "fetch", Around(self.fetches, self.has_fetched))

    def subscribe(self, moments):
        enters = self.guard.isolated("fetch")(self.enters)
        moments.evaluation_batch.append(lambda inputs: enters(inputs, always=True))
        moments.batch_enters.append(enters)
        moments.step_ends.append(self.end_step)

    def built(self, loader_or_data):
        found = self.sites.caller()
        if found is not None:
            self.lines.set(loader_or_data, (found[0].co_filename, found[1]))

    def begins(self, iterator, loader):
        self.begun += 1
        self.recorder.moments.pass_begins()
        facts = self.facts_of(loader)
        facts.begins_with(private.base_seed_of(iterator))
        self.iterations.set(iterator, [facts, 0])

    def in_fixed_order(self):
        """What the loader of the last batch is known by, if it takes the samples of a data set one by one."""
        facts = self.handed_out[0] if self.handed_out is not None else None
        fixed = facts is not None and facts.attributes["order"] == "sequential" and not facts.is_stream
        return id(facts) if fixed else None

    def beside(self, inputs):
        """The tensors that can be read and came with the last batch beside these inputs, as its targets are."""
        tensors = [reference() for reference in self.waiting[-1][0]] if self.waiting else []
        given = {id(tensor) for tensor in inputs}
        return [t for t in tensors if t is not None and id(t) not in given and is_at_hand(t, math.inf)]

    def batch_size(self):
        """Of the loader that handed out the last batch; None where none did, or it has none."""
        return self.handed_out[0].batch_size if self.handed_out is not None else None

    def draws_at_random(self):
        """Whether the last batch has samples in random order."""
        return self.handed_out is not None and self.handed_out[0].attributes["order"] == "random"

    def draws_each_once(self):
        """Whether the last batch is of a pass that draws each sample once."""
        return self.handed_out is not None and self.handed_out[0].draws_each_once

    def facts_of(self, loader):
        facts = next((known for known in self.told_apart if known.loader() is loader), None)
        if facts is not None:
            return facts
        facts = LoaderFacts(loader, self.lengths, self.lines)
        before = next((known for known in self.told_apart if facts.follows(known)), None)
        if before is not None:
            before.loader = facts.loader
            return before
        if len(self.told_apart) < MOST_LOADERS:
            self.told_apart.append(facts)
        return facts

    def begins_again(self, iterator):
        """Workers that persist keep their iterator, which starts another iteration."""
        iteration = self.iterations.get(iterator)
        if iteration is not None:
            iteration[1] = 0
            self.recorder.moments.pass_begins()

    def asks(self, args, kwargs):
        return None if self.guard.elsewhere() else [args[0], perf_counter(), False]

    def gets(self, token, batch):
        iterator, start, _ = token
        token[2] = True
        self.waited += perf_counter() - start
        self.fetched(iterator, batch)

    def asked(self, token):
        """An iterator that gave nothing is at its end."""
        if not token[2]:
            self.ends(token[0])

    def ends(self, iterator):
        iteration = self.iterations.get(iterator)
        for function in self.on_end if iteration is not None else ():
            function(iteration[0])

    def fetched(self, iterator, batch):
        iteration = self.iterations.get(iterator)
        if iteration is None:
            return
        place, iteration[1] = iteration[1], iteration[1] + 1
        self.nonempty += place == 0
        samples = samples_of(batch)
        self.handed_out = (iteration[0], samples)
        self.last, self.written = (iteration[0], place, samples), self.recorder.sampled
        self.waiting.append(([weakref.ref(tensor) for tensor in tensors_of(batch)], self.last))
        for function in self.on_batch:
            function(iteration[0], batch)
        if self.written:
            self.write_fetched(*self.last)
            self.write_digest(batch, iteration[0], place)
        else:
            self.recorder.event("fetched")

    def write_fetched(self, facts, place, samples, always=False):
        self.recorder.event("fetched", self.thing(facts), float(place), float(samples),
                            site=self.sites.current(always), always=always)  # fmt: skip

    def write_digest(self, batch, facts, place):
        """By what a batch is known again although the program changes its inputs at random."""
        tensors = tensors_of(batch)
        if tensors and is_readable(tensors[-1]) and is_at_hand(tensors[-1], math.inf):
            numbers = tensors[-1].detach().flatten()[:MOST_COMPARED].tolist()
            digest = digest_of(repr(numbers).encode()) & 0xFFFFFFFF
            self.recorder.quantity("fetched_digest", self.thing(facts), float(digest), float(place))

    def enters(self, inputs, always=False):
        """A batch goes into a model. It is written again where others were fetched since, by a library
        that reads ahead, or where it was fetched in a step that is not sampled."""
        source = self.source_of(inputs) or (self.last if always else None)
        if source is not None and not (source is self.last and self.written):
            self.write_fetched(*source, always=always)
        self.last, self.written = None, False

    def source_of(self, inputs):
        """What is written of the batch that an input was fetched in; None if it is not known, or if the
        batch went into a model before."""
        given = {id(tensor) for tensor in inputs if isinstance(tensor, torch.Tensor)}
        for place, (references, source) in enumerate(self.waiting):
            alive = (reference() for reference in references)
            if any(id(tensor) in given for tensor in alive if tensor is not None):
                del self.waiting[place]
                return source
        return None

    def thing(self, facts):
        """0 for those that are not told apart."""
        if facts.thing is None and facts not in self.told_apart:
            return 0
        if facts.thing is None:
            facts.thing = self.recorder.thing("loader", self.seen, "")
            self.seen += 1
            for key, value in facts.told().items():
                self.recorder.attribute(facts.thing, key, value)
        if facts.alike > facts.alike_told:
            facts.alike_told = facts.alike
            self.recorder.attribute(facts.thing, "same_start", facts.alike)
        return facts.thing

    def end_step(self, owner):
        waited, self.waited = self.waited, 0.0
        if self.recorder.sampled and self.seen:
            self.recorder.quantity("loader_wait", 0, waited, owner=owner)

    # In a worker: looks at its random generators around the first batch.

    def fetches(self, args, kwargs):
        info = torch.utils.data.get_worker_info()
        if info is None or self.drawn or self.begun > ITERATIONS_WITH_STREAMS:
            return None
        self.drawn = True
        before = self.digests()
        return (info.id, before) if before else None

    def has_fetched(self, token, batch):
        after = self.digests()
        if after:
            self.write_streams(*token, after)

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


def tensors_of(batch):
    """The first few tensors of a batch."""
    if isinstance(batch, torch.Tensor):
        return [batch]
    return [part for part in parts_of(batch) if isinstance(part, torch.Tensor)][:MOST_TENSORS]


def parts_of(batch):
    """What a batch holds; of an object of the program what its attributes are, so that nobody calls it."""
    if isinstance(batch, dict):
        return list(dict.values(batch))
    if isinstance(batch, (list, tuple)):
        return list((list if isinstance(batch, list) else tuple).__iter__(batch))
    if kind_of_class(type(batch)) != OWN:
        return list(batch.values()) if isinstance(batch, collections.abc.Mapping) else []
    found = list(attribute(batch, "__dict__", {}).values())
    return found + [part for value in found if isinstance(value, dict) for part in dict.values(value)]


def kind_of_class(cls):
    """Whose a class is; what has no file is Python's own."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    is_own = file is None and cls.__module__ == "__main__"
    return OWN if is_own else OURS if file is None else kind_of(file)


def samples_of(batch):
    """The first dimension of the first tensor of a batch; 0 if there is none."""
    if isinstance(batch, torch.Tensor):
        return batch.shape[0] if batch.dim() else 1
    if not isinstance(batch, (dict, list, tuple)):
        return 0
    return next((n for n in map(samples_of, parts_of(batch)) if n), 0)

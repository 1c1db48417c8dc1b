"""The experiment one_process: alone, a process is given at each fetch of its first step what all
processes of the experiment ranks were given there together; its gradient is compared with theirs."""

import pickle

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from ..fixed_batch.batches import Unarrangeable, mapped_leaves
from ..fixed_batch.fetches import Fetches, Source
from ..fixed_batch.gradients import Gradient, combined
from .apart import file_of
from .first_step import FirstStep, world


class JoinedFetches(Fetches):
    """Hands out joined batches; sources are told apart by the order in which they come first."""

    def __init__(self, watch, on_fetch, refuse, batches):
        super().__init__(watch, on_fetch, refuse)
        self.joined = batches  # the leaves of each, by source, in the order of their fetches
        self.active, self.beyond = True, False

    def handed_out(self, origin, batch):
        if not self.active:
            return batch
        source = self.source_of(origin)
        if source is None:
            source = Source(len(self.sources), origin)
            self.sources.append(source)
        place, source.fetched = source.fetched, source.fetched + 1
        if source.number >= len(self.joined) or place >= len(self.joined[source.number]):
            self.beyond = True
            return batch
        leaves = iter(self.joined[source.number][place])
        return mapped_leaves(batch, lambda _: next(leaves))


class Joined(FirstStep):
    def __init__(self, watch, folder, refuse):
        self.ranks = self.kept_in(folder, refuse)
        super().__init__(watch, refuse)

    def kept_in(self, folder, refuse):
        try:
            first = torch.load(file_of(folder, 0), weights_only=True)
            others = [file_of(folder, rank) for rank in range(1, first["size"])]
            return [first, *(torch.load(path, weights_only=True) for path in others)]
        except OSError:
            refuse("not every process of the multi-process run saved its first batches")
        except pickle.UnpicklingError:
            refuse("the first batches, weights or gradients are not only plain tensors and strings")

    def make_fetches(self):
        try:
            joined = [[joined_leaves(parts) for parts in zip(*lists)]
                      for lists in zip(*(rank["batches"] for rank in self.ranks))]  # fmt: skip
        except (Unarrangeable, RuntimeError) as error:  # of torch.cat: their shapes differ
            self.refuse(f"batches of different processes cannot be concatenated: {error}")
        return JoinedFetches(self.watch, self.fetched, self.refuse, joined)

    def compare(self, weights, gradient):
        self.fetches.active = False
        if self.fetches.beyond:
            self.refuse("the single-process run uses different batches in its first step")
        if any(map(norms_batches, self.watch.models.roots.items())):
            self.refuse("the model normalizes over the batch of each process")
        first = self.ranks[0]
        if world()[1] != 1:
            self.refuse("the program starts several processes even when started as one")
        if len(weights) != len(first["weights"]) or not all(map(torch.equal, weights, first["weights"])):
            self.refuse("the initial weights differ in the single-process run")
        theirs = Gradient([])
        theirs.parts = first["gradient"]
        own = gradient.norm() ** 2
        both = combined([(1.0, gradient), (1.0, theirs)]) ** 2
        if own == 0:
            self.refuse("the first gradient is zero")
        ratio = (both - own - theirs.norm() ** 2) / (2 * own)
        rest = combined([(1.0, theirs), (-ratio, gradient)]) / own**0.5
        self.watch.recorder.quantity("ranks_ratio", 0, ratio, rest)
        self.watch.recorder.attribute(0, "ranks", first["size"])
        different = len({rank["digest"] for rank in self.ranks})
        self.watch.recorder.attribute(0, "different_gradients", different)


def norms_batches(root_and_model):
    return any(isinstance(module, _BatchNorm) and not isinstance(module, torch.nn.SyncBatchNorm)
               and module.training for module in root_and_model[0].modules())  # fmt: skip


def joined_leaves(batches):
    """The leaves of one batch with the rows of several, one after the other."""
    if len({len(leaves) for leaves in batches}) != 1:
        raise Unarrangeable("they have different parts")
    return [put_together(column) for column in zip(*batches)]


def put_together(leaves):
    if isinstance(leaves[0], torch.Tensor):
        return torch.cat(leaves)
    return type(leaves[0])(item for leaf in leaves for item in leaf)

"""The experiment shuffled_labels: in each batch, the labels are dealt anew among its samples before the
program sees it, so that they say nothing about what they stand beside.

The loss of such a batch can then not be expected below its floor, what the best answer comes to that is
one and the same for all its samples, unless something in the program tells the model the labels.
"""

import collections
import math

import torch

from ...hooks.loss import ORDER, reduction_of
from ...torch_api import private, tensors
from ...torch_api.capabilities import is_compiling
from ...torch_api.wrapping import replace
from ..trials.capture import mapped

MOST_AHEAD = 8  # batches that may wait before their labels reach a loss


def entropy_of_classes(labels):
    _, counts = labels.unique(return_counts=True)
    shares = counts.double() / labels.numel()
    return float(-(shares * shares.log()).sum())


def entropy_of_flags(labels):
    """Of targets between 0 and 1, of which the best answer is their mean."""
    share = float(labels.double().mean())
    return -sum(p * math.log(p) for p in (share, 1 - share) if p > 0)


def variance(labels):
    return float(labels.double().var(unbiased=False))


# Function: the floor of its mean over a batch, from its targets.
FLOORS = {
    "cross_entropy": entropy_of_classes,
    "nll_loss": entropy_of_classes,
    "binary_cross_entropy_with_logits": entropy_of_flags,
    "mse_loss": variance,
}


class ShuffledLabels:
    def __init__(self, watch, refuse):
        self.watch, self.refuse = watch, refuse
        self.draw = torch.Generator().manual_seed(0)  # not the program's
        self.place = None  # of the labels: the data set, and their number among the batch's tensors
        # Of the batches handed out since the last step began and some before: their data set, their tensors
        # as the program got them, whether labels were dealt in them.
        self.batches = collections.deque(maxlen=MOST_AHEAD)
        self.used = []  # of them, in this step

    def begin(self):
        replace([private.LoaderIterator], "__next__", self.watched_next)
        for function, floor in FLOORS.items():
            replace([torch.nn.functional], function, self.watched_loss(function, floor))
        self.watch.moments.stepped.append(self.end_step)

    def watched_next(self, original):
        def next_batch(iterator):
            batch = original(iterator)
            data, dealt = private.data_set_of(iterator), self.place is not None  # the loader itself may be gone
            batch, found = self.dealt_anew(data, batch), []
            mapped(batch, lambda tensor: found.append(tensor) or tensor)
            self.batches.append((data, [tensor.detach().clone() for tensor in found], dealt))
            return batch

        return next_batch

    def dealt_anew(self, data, batch):
        if self.place is None or data is not self.place[0]:
            return batch
        numbers = iter(range(1 << 30))

        def change(tensor):
            if next(numbers) != self.place[1]:
                return tensor
            return tensor[torch.randperm(len(tensor), generator=self.draw).to(tensor.device)]

        return mapped(batch, change)

    def watched_loss(self, function, floor):
        def make(original):
            def loss(*args, **kwargs):
                result = original(*args, **kwargs)
                options = dict(zip(ORDER[function], args)) | kwargs
                target = options.get("target")
                if is_compiling() or not tensors.is_plain(result) or not tensors.is_plain(target):
                    return result
                if result.requires_grad and torch.is_grad_enabled() and tensors.may_compute():
                    with tensors.unrecorded():
                        self.look(function, floor, result.detach(), target.detach(), options)
                return result

            return loss

        return make

    def look(self, function, floor, result, target, options):
        """Finds the labels in the first step; from then on writes what became of those that were dealt,
        once: what is used again can be learnt by heart."""
        entry, place = self.place_of(target)
        if self.place is None:
            self.place = place
        elif self.is_the_place(place) and entry[2] and is_plain_mean(function, options):
            mean = result.sum() / (1 if reduction_of(options) == "mean" else target.numel())
            thing = self.watch.losses.things.get(function, 0)
            self.watch.recorder.quantity("shuffled_loss", thing, float(mean), floor(target))
            self.used.append(entry)

    def place_of(self, target):
        """The batch whose samples have these very labels, one each and not what they are told by; and of
        it the data set and the number of the labels' tensor."""
        for entry in reversed(self.batches):
            data, batch, _ = entry
            for number, labels in enumerate(batch):
                if is_single(labels) and len(batch) > 1 and same_values(labels, target):
                    return entry, (data, number)
        return None, None

    def is_the_place(self, place):
        return place is not None and place[0] is self.place[0] and place[1] == self.place[1]

    def end_step(self):
        for entry in self.used:
            entry[1].clear()
        self.used = []
        if self.place is None:
            self.refuse("no loss uses labels of a DataLoader, one per sample")


def is_plain_mean(function, options):
    """False where some targets weigh more than others, or what is given as logarithms are none."""
    if options.get("weight") is not None or options.get("pos_weight") is not None:
        return False
    if function != "nll_loss":
        return True
    sums = options["input"].detach().double().exp().sum(1)
    return bool((sums - 1).abs().lt(1e-3).all())


def is_single(labels):
    return labels.dim() > 0 and labels.numel() == len(labels) > 1


def same_values(labels, target):
    return labels.numel() == target.numel() and torch.equal(
        labels.flatten().double(), target.flatten().to(labels.device).double())  # fmt: skip

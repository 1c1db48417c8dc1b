"""Counts the classes that the targets of a training loss have: one that never occurs, one that nearly all
have, and weights of classes that grow with their frequency.
"""

import torch

from ..state.loss_calls import has_one_class_each
from ..torch_api import tensors
from ..torch_api.on_host import on_host

MOST_CLASSES, FEWEST_EACH = 1000, 30  # targets of each class on average before anything is said of them
NOTABLE_SHARE = 0.9
FEWEST_CONSTANT = 1024  # targets of a text
LEAST_RATIO = 2  # of the largest class to the smallest, for weights to have an order
# Ratios of the products of weight and count: as equal ones have them up to the noise of the counts, at most, and
# as no scheme makes them.
EQUAL, MOST_EQUAL, UNEQUAL, FEWEST_CLASSES = 1.1, 1.6, 3, 3


class TargetClasses:
    def __init__(self, recorder, sites, last_batch):
        self.recorder, self.sites, self.last_batch = recorder, sites, last_batch
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        # By thing of the loss and its classes: targets of each, of all, and at how many of these to speak next.
        self.counts, self.totals, self.next = {}, {}, {}
        self.only = {}  # by the same, of targets that are no samples: the one class of all, how many; None once there are two

    def subscribe(self, moments):
        moments.loss_compared.append(self.add)

    def add(self, call):
        """Of a text with a target for each position, whose batch has fewer samples, no class need occur."""
        if not has_one_class_each(call) or call.target.numel() == 0:
            return
        if not self.last_batch.has_samples(call.target.shape[0]):
            self.look_for_one(call)
            return
        classes, target = call.output.shape[1], call.host_target
        if not 2 <= classes <= MOST_CLASSES or 0 <= call.options.get("ignore_index", -100) < classes:
            return
        least, most = (int(end) for end in target.aminmax())
        if least < 0 or most >= classes:
            target = target[(target >= 0) & (target < classes)]
        key = (call.thing, classes)
        counts = self.counts[key] = torch.bincount(target, minlength=classes) + self.counts.get(key, 0)
        total = self.totals[key] = self.totals.get(key, 0) + target.numel()
        if total >= self.next.get(key, FEWEST_EACH * classes):
            self.next[key] = 2 * total
            self.write(call, counts, total)

    def look_for_one(self, call):
        """Whether all targets of a text have one class: that of the mask, where it was written over the targets, too."""
        key, target = (call.thing, call.output.shape[1]), call.host_target
        only, total = self.only.get(key, (int(target[0]), 0)) or (None, 0)
        if only is None or total >= FEWEST_CONSTANT:
            return
        self.only[key] = (only, total + target.numel()) if bool((target == only).all()) else None
        if self.only[key] is not None and self.only[key][1] >= FEWEST_CONSTANT:
            self.recorder.quantity("largest_class", call.thing, 1.0, float(self.only[key][1]), self.sites.current())

    def write(self, call, counts, total):
        unused = torch.nonzero(counts == 0).flatten().tolist()
        unused = (unused[0], unused[-1]) if unused else (-1, -1)
        self.recorder.quantity("unused_class", call.thing, float(unused[0]), float(unused[1]))
        share = int(counts.max()) / total
        if share >= NOTABLE_SHARE:
            self.recorder.quantity("largest_class", call.thing, share, float(total))
        weight = on_host(call.options.get("weight"))
        unequal = int(counts.max()) >= LEAST_RATIO * int(counts.min()) > 0
        if unequal and tensors.is_plain(weight) and weight.is_cpu and weight.shape == counts.shape:
            order = rank_correlation(weight.detach().double(), counts.double())
            self.recorder.quantity("class_weight_order", call.thing, order, float(len(counts)))
            ratio = misorder(weight.detach().double(), counts.double())
            if ratio is not None:
                self.recorder.quantity("misordered_weights", call.thing, ratio, float(len(counts)),
                                       self.sites.current())  # fmt: skip


def misorder(weights, counts):
    """The ratio of the largest product of weight and count to the smallest, where all products would be equal in
    another order; None for other weights."""
    if len(weights) < FEWEST_CLASSES or bool((weights <= 0).any()):
        return None
    ratio, best = (ratio_of(products) for products in (weights * counts, weights.sort()[0] * counts.sort()[0].flip(0)))
    noise = 4 / float(counts.min()) ** 0.5
    return ratio if best < min(EQUAL + noise, MOST_EQUAL) and ratio > UNEQUAL else None


def ratio_of(products):
    return float(products.max() / products.min())


def rank_correlation(some, other):
    """Of Spearman; 0 where either is constant. Equal numbers share a rank."""
    ranks = [ranks_of(values) for values in (some, other)]
    ranks = [r - r.mean() for r in ranks]
    size = ranks[0].norm() * ranks[1].norm()
    return float(ranks[0] @ ranks[1] / size) if float(size) > 0 else 0.0


def ranks_of(values):
    below = (values[None, :] < values[:, None]).sum(1)
    equal = (values[None, :] == values[:, None]).sum(1)
    return below.double() + (equal.double() - 1) / 2

"""Compares whose classes are which: those of a teacher with the labels of the same samples, and those that a model
predicts in an evaluation with the labels there. Classes that are confused one for one, nearly always, are in another
order.
"""

import weakref

import torch

from ..state.last_batch import version_of
from ..state.loss_calls import has_one_class_each
from ..torch_api import tensors
from ..torch_api.on_host import on_host

FEWEST_CLASSES, MOST_CLASSES, MOST_ROWS = 3, 256, 4096
FEWEST_SAMPLES, ENOUGH = 5, 200  # of each class, before anything is said; of each class, after which nothing is
LEAST_MOVED, MOST_OWN, LEAST_ALL = 0.6, 0.2, 0.7  # shares: of a class for another one, for itself; of all samples


class ConfusedClasses:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.gave = guard.isolated("classes")(self.gave)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.counts, self.told = {}, set()  # by quantity, thing and number of classes: (labels, votes); quantities
        self.step, self.labels, self.votes = -1, None, None  # of the step under way

    def subscribe(self, moments):
        moments.loss_compared.append(self.train)
        moments.evaluation_loss.append(self.evaluate)
        moments.evaluation_gave.append(self.gave)

    def train(self, call):
        """The labels of a step meet the targets in probabilities or scores of the same step."""
        if self.step != self.recorder.step:
            self.step, self.labels, self.votes = self.recorder.step, None, None
        if not is_of_classes(call):
            return
        if has_one_class_each(call):
            self.labels = (weakref.ref(call.host_target), version_of(call.host_target))
        elif is_of_teacher(call):
            self.votes = (call.thing, call.target.shape[1], call.host_target.detach()[:MOST_ROWS].argmax(1))
        labels = None if self.labels is None or self.votes is None else self.unchanged_labels()
        if labels is None or len(labels) != len(self.votes[2]):
            return
        thing, classes, votes = self.votes
        self.add("teacher_classes", thing, classes, labels, votes)
        self.labels, self.votes = None, None

    def unchanged_labels(self):
        reference, version = self.labels
        labels = reference()
        return labels.detach()[:MOST_ROWS] if labels is not None and version_of(labels) == version else None

    def evaluate(self, call):
        if is_of_classes(call) and has_one_class_each(call):
            votes = on_host(call.output).detach()[:MOST_ROWS].argmax(1)
            self.add("evaluation_classes", call.thing, call.output.shape[1], call.host_target.detach()[:MOST_ROWS], votes)

    def gave(self, model, output, beside):
        """The scores of an evaluation meet what a loader gave beside the inputs."""
        labels = [t for t in beside if t.dtype is torch.int64 and t.dim() == 1 and tensors.is_readable(t)]
        if len(labels) != 1 or not isinstance(output, torch.Tensor) or not tensors.may_compute() or not is_of_scores(output):
            return
        if output.shape[0] != len(labels[0]) or len(labels[0]) > MOST_ROWS:
            return
        known = on_host(labels[0])
        if known.is_cpu:
            with tensors.unrecorded():
                self.add("evaluation_classes", model.thing, output.shape[1], known.detach(), on_host(output).detach().argmax(1))

    def add(self, quantity, thing, classes, labels, votes):
        counts = self.counts.setdefault((quantity, thing, classes), torch.zeros(classes, classes, dtype=torch.long))
        if quantity in self.told or int(counts.sum()) > ENOUGH * classes:
            return
        if not bool(((labels >= 0) & (labels < classes)).all()):
            return
        counts += torch.bincount(labels * classes + votes, minlength=classes * classes).reshape(classes, classes)
        found = moved_classes(counts)
        if found is not None:
            self.told.add(quantity)
            self.recorder.quantity(quantity, thing, *found, self.sites.current(always=True))


def is_of_classes(call):
    return is_of_scores(call.output) and tensors.is_readable(call.target) and call.host_target.is_cpu


def is_of_scores(output):
    """Whether these are scores of (samples, classes), in numbers that can be read at once."""
    if output.dim() != 2 or not FEWEST_CLASSES <= output.shape[1] <= MOST_CLASSES or not output.shape[0]:
        return False
    return tensors.is_readable(output) and output.is_floating_point() and on_host(output).is_cpu


def is_of_teacher(call):
    target = call.target
    return target.is_floating_point() and target.shape == call.output.shape and not target.requires_grad


def moved_classes(counts):
    """How many classes stand in the place of another one, and the share of the samples for which that is so or the
    class is the same; None where no class does. `counts`: (labels, votes)."""
    samples = counts.sum(1)
    if int(samples.min()) < FEWEST_SAMPLES:
        return None
    best = counts.argmax(1)
    moved = best != torch.arange(len(best))
    if not bool(moved.any()) or best.unique().numel() != len(best):
        return None
    shares = counts / samples[:, None]
    chosen, own = shares.gather(1, best[:, None])[:, 0], shares.diagonal()
    if bool((chosen[moved] < LEAST_MOVED).any()) or bool((own[moved] > MOST_OWN).any()):
        return None
    all_chosen = float(counts.gather(1, best[:, None]).sum() / counts.sum())
    return (float(moved.sum()), all_chosen) if all_chosen >= LEAST_ALL else None

"""Waits for the step that the plain run named, has every operation looked at from the step before it on,
and tells where the first value came from that is not finite in a loss, a gradient or a weight."""

import torch

from ...hooks.unseen import graphs_compiled
from ...state import walking
from ...state.optimizers import parameters_of
from ...torch_api import private, tensors
from ...torch_api.wrapping import followed_by, replace
from ..trials.run import trains_with_others
from . import flow, numbers
from .kept_batch import KeptBatch
from .origin import BUFFER, PARAMETER, Batch, listed, origin_of, path_of
from .places import Places
from .watcher import Watcher


class Replay:
    def __init__(self, watch, request, ending):
        """Of the request: it ends after the step that is asked about."""
        self.watch, self.recorder, self.ending = watch, watch.recorder, ending
        self.step = request.steps - 1
        self.flow, self.places = flow.Flow(), Places(watch)
        self.kept = KeptBatch(request, self.places) if request.keeps_batch else None
        self.watcher = Watcher(watch.guard.isolated("replay", runs_program=True), self.flow, self.places)
        self.looks = False
        self.since = 0  # the last of the values that were there before the batch

    def begin(self):
        isolated = self.watch.guard.isolated("replay", runs_program=True)
        self.end_step, self.look_at = isolated(self.end_step), isolated(self.look_at)
        self.places.begin()
        if self.kept:
            self.kept.begin()
        self.watch.moments.stepped.insert(0, self.end_step)
        replace([torch.autograd], "backward", self.watched_backward)
        wake = isolated(lambda *_: self.wake())
        self.places.called.append(wake)
        replace([torch.optim.Optimizer], "__init__", followed_by(wake))
        iterator = private.LoaderIterator
        replace([iterator], "__next__", followed_by(isolated(self.fetched)))

    def fetched(self, *_):
        self.since = self.flow.count

    def wake(self):
        if self.looks or self.recorder.step < self.step - 1:
            return
        if private.count_dispatch_modes():
            return  # somebody else's mode would be taken away instead of this one
        if trains_with_others():  # who would wait for this one
            self.give_up("the program trains in several processes")
        if self.is_compiled():
            self.give_up("parts of the program are compiled")
        if self.step > 1 and self.spoilt_weights():
            self.give_up("the repeated run differed: weights were non-finite before that step")
        self.looks, self.watcher.asleep = True, False
        self.watcher.__enter__()

    def end_step(self):
        """After the clock moved on."""
        ended = self.recorder.step - 1
        if self.looks:
            weights = self.spoilt_weights()
            if ended == self.step:
                self.tell(self.spoilt_gradients() or weights, ended)
                self.give_up("the repeated run had no non-finite value in that step")
            self.tell(weights, ended)
        if self.kept:
            self.kept.clear()
        self.places.end_step()
        self.wake()

    def watched_backward(self, original):
        def backward(roots, *args, **kwargs):
            self.look_at(roots)
            return original(roots, *args, **kwargs)

        return backward

    def look_at(self, roots):
        self.wake()  # for the next one, of a program that calls neither module nor optimizer
        if not self.looks or self.recorder.step != self.step:
            return
        roots = [roots] if isinstance(roots, torch.Tensor) else list(roots)
        self.tell([("", root) for root in roots if not self.looks_finite(root)], self.step)

    def looks_finite(self, tensor):
        """Asked of the program's own tensors, which nobody is to see."""
        asleep, self.watcher.asleep = self.watcher.asleep, True
        try:
            with tensors.unrecorded():
                return numbers.all_finite(tensor)
        finally:
            self.watcher.asleep = asleep

    def is_compiled(self):
        unseen = self.watch.unseen
        return unseen.replays > 0 or graphs_compiled() > unseen.graphs_before

    def spoilt_weights(self):
        return [(name, p) for name, p in self.weights() if not self.looks_finite(p)]

    def spoilt_gradients(self):
        found = [(name, p.grad) for name, p in self.weights() if p.grad is not None]
        return [(name, gradient) for name, gradient in found if not self.looks_finite(gradient)]

    def weights(self):
        """Names and parameters of all that optimizers have."""
        known = self.watch.models.parameters
        for optimizer, _ in self.watch.steps.optimizers.ours():
            for parameter in parameters_of(optimizer):
                yield known.get(parameter, (0, "", ""))[1], parameter

    def batch(self):
        shapes = {tuple(parameter.shape) for _, parameter in self.weights()}
        return Batch(self.places.batch, self.since, shapes)

    def names(self):
        """What storages hold: (parameter or buffer, its name)."""
        found = {}
        for root, model in self.watch.models.roots.items():
            for name, buffer in walking.named_buffers(root):
                found[flow.number_of(buffer)] = (BUFFER, model.name(name))
            for name, parameter in walking.named_parameters(root):
                found[flow.number_of(parameter)] = (PARAMETER, model.name(name))
        for name, parameter in self.weights():
            found.setdefault(flow.number_of(parameter), (PARAMETER, name))
        return found

    def tell(self, roots, step):
        """Of roots that are not finite, as (name, tensor), if there are any; then the run ends."""
        if not roots:
            return
        self.watcher.asleep = True
        numbers_of_roots = [flow.number_of(root) for _, root in roots]
        values = [self.flow.made[n][1] for n in numbers_of_roots if n in self.flow.made]
        batch = self.batch()
        origin = origin_of(values, self.names(), batch)
        if origin is None or self.is_compiled():
            self.give_up("the observed operations do not lead to the origin")
        self.write(origin, batch, roots[0][0], step, path_of(origin.value, values))
        if self.kept:
            self.recorder.attribute(0, "kept_batch", self.kept.save(step))
        self.leave()

    def write(self, origin, batch, reached, step, path):
        recorder, value, place = self.recorder, origin.value, origin.value.place
        recorder.begin()
        thing = recorder.thing("birth", 0, origin.name)
        found = {
            "of": origin.kind, "inputs": value.ranges,
            "phase": place.phase, "behind": place.behind, "module": place.module, "reached": reached,
            "samples": listed(origin.samples, batch) if origin.samples else "",
            "path": " > ".join(map(told, shortened(path))),
        }  # fmt: skip
        for key, text in found.items():
            if text:
                recorder.attribute(thing, key, text)
        at = (step, recorder.micro_step)
        recorder.quantity("nonfinite_birth", thing, value.count, value.elements, place.site, at=at)

    def give_up(self, reason):
        self.recorder.begin()
        self.recorder.attribute(0, "unreplayed", reason)
        self.leave()

    def leave(self):
        self.watcher.asleep = True
        self.recorder.event("stopped", always=True)
        self.ending.leave()


MOST_OF_PATH = 8  # values that are told


def shortened(path):
    """The first and the last values, where there are many."""
    return path if len(path) <= MOST_OF_PATH else [*path[: MOST_OF_PATH - 2], None, path[-1]]


def told(value):
    if value is None:
        return "..."
    place = value.place.module or value.place.phase
    return f"{value.operation} ({place})" if place else value.operation

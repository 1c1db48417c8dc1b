"""Watches evaluations: forwards of a model that trains, with gradients disabled, or in evaluation
mode and followed by no backward. In which mode they ran, what they changed, and on which rows.

Evaluations have a clock of their own, because they seldom fall into a sampled step.
"""

import math
import weakref

import torch

from ..record.digest import digest
from ..record.identity import IdentityMap
from ..record.rows import batch_of, fingerprint, has_rows, numbers_of
from ..record.sampling import is_sampled_evaluation
from ..state import walking
from ..system import perf_counter
from ..torch_api import private, tensors
from ..torch_api.on_host import is_at_hand
from ..torch_api.random_states import random_states
from .unreached_passes import UnreachedPasses

MOST_BATCHES = 64  # of an evaluation that are recorded one by one
MOST_ROWS = 1024  # of a batch
MOST_KNOWN = 1 << 16
MOST_COMPARED = 256  # numbers of a target
MOST_DIGESTED_BYTES = 64 << 20
# So many forwards in evaluation mode without a backward are an evaluation with gradients.
LOOSE = 4


class Phase:
    def __init__(self, model, recorded):
        self.model, self.recorded, self.batches = model, recorded, 0
        self.rows, self.repeated, self.numbers = set(), 0, []
        self.first = None  # the number of its first batch
        self.source = None  # the loader of that, where it deals its samples in a fixed order
        self.takes_data = True  # its inputs are not what another module gave
        self.beside = []  # weak references to what came with the batch under way beside the inputs
        self.targets = ()  # what came with its first batch beside the inputs
        self.begun, self.ended = None, None  # when its first forward began and its last one ended, in seconds
        self.is_known_late = False  # what it took is among the rows that were taken for those of training

    def add(self, rows):
        if not rows:
            return
        new, number = set(rows), hash(tuple(rows))
        self.repeated += len(rows) - len(new - self.rows)
        self.rows |= new
        self.numbers.append(number)
        if self.first is None:
            self.first = number


class Evaluations:
    def __init__(self, recorder, sites, losses, loaders):
        self.recorder, self.sites, self.losses, self.loaders = recorder, sites, losses, loaders
        self.unreached = UnreachedPasses(self)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.phase, self.seen = None, 0
        self.unreached.reset()
        self.trained = set()  # numbers of rows that a model trained on
        self.earlier = {}  # by loader of a fixed order: the rows of its last evaluation
        self.loose, self.loose_model, self.loose_sites, self.any_loose = 0, None, (0, 0), False
        # Parts of modules that are called without gradients and train nothing, and whether there were any.
        self.enclosed, self.any_enclosed = IdentityMap(), False

    def subscribe(self, moments):
        moments.rows_trained.append(self.train_on)

    def train_on(self, numbers):
        if len(self.trained) < MOST_KNOWN:
            self.trained.update(numbers)

    def enclose(self, module):
        """What such a module gives its parts is no data."""
        self.any_enclosed = True
        if module not in self.enclosed:
            for part in walking.modules(module):
                self.enclosed.set(part, True)

    def before(self, model, module, inputs, gradients):
        """A forward of an evaluation begins."""
        rows = self.rows_of(inputs) if self.is_recorded() else []
        phase = self.phase
        if phase is not None and phase.batches > 1 and rows and hash(tuple(rows)) == phase.first:
            self.end()  # the same data again: another evaluation
            phase = None
        if phase is None:
            phase = self.begin(model)
        phase.batches += 1
        phase.begun = phase.begun or perf_counter()
        if not phase.recorded or phase.batches > MOST_BATCHES:
            return
        beside = self.loaders.beside(inputs)
        phase.beside = [weakref.ref(tensor) for tensor in beside]
        if phase.batches == 1:
            phase.source, phase.targets = self.loaders.in_fixed_order(), beginnings_of(beside)
            phase.takes_data = module not in self.enclosed
        self.recorder.moments.evaluation_batch(inputs)
        self.recorder.event("evaluation_forward", model.thing, float(trains(module)),
                            float(gradients), site=self.sites.current(True), always=True)  # fmt: skip
        phase.add(rows)
        if phase.batches <= 2 and tensors.may_compute():
            with tensors.unrecorded():
                self.write_digests(model, module)

    def is_recorded(self):
        """Whether the evaluation under way is, or the one that is about to begin."""
        return self.phase.recorded if self.phase is not None else is_sampled_evaluation(self.seen + 1)

    def begin(self, model, function=0):
        """`function`: the line at which the function begins that evaluates, if that is not the calling one."""
        self.seen += 1
        recorded = is_sampled_evaluation(self.seen)
        self.phase = Phase(model, recorded)
        if recorded and not function:
            _, function = self.sites.call_and_function()
        self.recorder.event("evaluation_began", model.thing, site=function, always=recorded)
        return self.phase

    def rows_of(self, inputs):
        """The numbers of the rows of a batch. They are read at once, from an accelerator too: evaluations are compared at their end."""
        batch = batch_of(inputs)
        if not batch or not has_rows(batch[0]) or not is_at_hand(batch[0], math.inf) or not tensors.may_compute():
            return []
        with tensors.unrecorded():
            return numbers_of(batch, MOST_ROWS).tolist()

    def after(self, model, module, output):
        phase = self.phase
        if phase is not None:
            phase.ended = perf_counter()
        if phase is None or not phase.recorded or phase.batches > MOST_BATCHES:
            return
        beside = [tensor for tensor in (reference() for reference in phase.beside) if tensor is not None]
        self.recorder.moments.evaluation_gave(model, output, beside)
        if phase.batches == 1:
            with tensors.unrecorded():
                self.write_digests(model, module)
                self.recorder.moments.evaluation_begun(model, module)

    def write_digests(self, model, module):
        if model.sharded:
            return
        state = [t for t in kept_tensors(module) if tensors.is_plain(t)]
        if sum(t.numel() * t.element_size() for t in state) > MOST_DIGESTED_BYTES:
            return
        if any(t.layout is not torch.strided for t in state) or not tensors.may_compute():
            return
        for name, found in (("model_digest", state), ("random_digest", random_states())):
            number = digest(found)
            self.recorder.quantity(name, model.thing, number >> 32, number & 0xFFFFFFFF)

    def pass_in_evaluation_mode(self, model):
        """A forward with gradients, of which nobody knows yet whether a backward follows."""
        if model is not self.loose_model:
            self.loose, self.loose_model = 0, model
        if self.loose == 0:
            self.loose_sites = self.sites.call_and_function()
        self.loose, self.any_loose = self.loose + 1, True

    def add_passes(self, model, count, passes):
        """An evaluation in training mode with gradients, known as one at its end."""
        self.end()
        call, function = passes.sites
        phase = self.begin(model, function)
        phase.batches, phase.is_known_late = count, True
        for _ in range(min(count, MOST_BATCHES)):
            self.recorder.event("evaluation_forward", model.thing, 1.0, 1.0, site=call, always=phase.recorded)
        for rows in passes.rows:
            phase.add(rows)
        self.end()

    def backward(self):
        self.loose = 0
        self.unreached.backward()

    def finish(self):
        self.unreached.finish()
        self.end()

    def end(self):
        """Training goes on, or the program ends."""
        if self.phase is None and not self.loose and self.losses.evaluation is None:
            return
        if self.loose:
            self.end_loose()
        phase, self.phase = self.phase, None
        found = self.losses.end_evaluation(phase is not None and phase.recorded)
        if phase is None:
            return
        recorder, thing = self.recorder, phase.model.thing
        recorder.event("evaluation_ended", thing, always=phase.recorded)
        if not phase.recorded:
            return
        if phase.ended:
            recorder.quantity("evaluation_time", 0, phase.ended - phase.begun)
        if found is not None:
            recorder.quantity("evaluation_loss", thing, *found)
        if phase.rows:
            rows = len(phase.rows) + phase.repeated
            recorder.quantity("repeated_rows", thing, float(phase.repeated), float(rows))
        if phase.rows and not phase.is_known_late:
            known = len(phase.rows & self.trained)
            recorder.quantity("trained_rows", thing, float(known), float(len(phase.rows)))
            recorder.quantity("evaluation_fingerprint", thing, *fingerprint(phase.numbers))
            self.compare(phase, thing)
            recorder.moments.evaluation_over(phase)

    def compare(self, phase, thing):
        """A data set that gives other inputs with the same targets changes them at random. Where the targets are
        others, too, the data are new ones."""
        if phase.source is None or not phase.takes_data or phase.batches > MOST_BATCHES:
            return
        before, targets = self.earlier.get(phase.source, (None, None))
        self.earlier[phase.source] = (phase.rows, phase.targets)
        if before is not None and len(before) == len(phase.rows) and phase.targets and phase.targets == targets:
            others = len(phase.rows - before)
            if 2 * others > len(before):
                self.recorder.quantity("redrawn_rows", thing, float(others), float(len(before)))

    def end_loose(self):
        count, self.loose = self.loose, 0
        if count < LOOSE or self.phase is not None:
            return
        call, function = self.loose_sites
        phase = self.begin(self.loose_model, function)
        thing = self.loose_model.thing
        for _ in range(min(count, MOST_BATCHES)):
            self.recorder.event("evaluation_forward", thing, 0.0, 1.0, site=call, always=phase.recorded)


def beginnings_of(tensors_beside):
    return tuple(hash(tuple(t.detach().flatten()[:MOST_COMPARED].tolist())) for t in tensors_beside)


def trains(module):
    """Whether a model is in training mode. A wrapper may hand eval() on and keep a mode of its own."""
    parts = list(walking.children(module))
    return module.training and (not parts or any(part.training for part in parts))


def kept_tensors(module):
    """What a state of the module would hold; asks no method that a program may have made its own."""
    for part in walking.modules(module):
        yield from (tensor for _, tensor in walking.items_of(part, private.PARAMETERS))
        yield from walking.saved_buffers(part)

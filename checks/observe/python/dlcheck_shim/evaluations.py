"""Watches evaluations: forwards of a model that trains, with gradients disabled, or in evaluation
mode and followed by no backward. In which mode they ran, what they changed, and on which rows.

Evaluations have a clock of their own, because they seldom fall into a sampled step.
"""

import torch

from . import tensors
from .digest import digest
from .rows import fingerprint, with_rows

ALWAYS = 8  # first evaluations that are all recorded; then those whose number is a power of two
MOST_BATCHES = 64  # of an evaluation that are recorded one by one
MOST_ROWS = 1024  # of a batch
MOST_KNOWN = 1 << 16
MOST_DIGESTED_BYTES = 64 << 20
# So many forwards in evaluation mode without a backward are an evaluation with gradients.
LOOSE = 4


class Phase:
    def __init__(self, model, recorded):
        self.model, self.recorded, self.batches = model, recorded, 0
        self.rows, self.repeated, self.numbers = set(), 0, []


class Evaluations:
    def __init__(self, recorder, sites, losses):
        self.recorder, self.sites, self.losses = recorder, sites, losses
        self.on_batch = []  # functions called before a batch is recorded
        self.reset()
        recorder.on_fork.append(self.reset)

    def reset(self):
        self.phase, self.seen = None, 0
        self.trained = set()  # numbers of rows that a model trained on
        self.loose, self.loose_model = 0, None

    def train_on(self, numbers):
        if len(self.trained) < MOST_KNOWN:
            self.trained.update(numbers)

    def before(self, model, module, inputs, gradients):
        """A forward of an evaluation begins."""
        phase = self.phase
        if phase is None:
            self.seen += 1
            recorded = self.seen <= ALWAYS or self.seen & (self.seen - 1) == 0
            phase = self.phase = Phase(model, recorded)
            self.recorder.event("evaluation_began", model.thing,
                                site=self.sites.current(recorded), always=recorded)  # fmt: skip
        phase.batches += 1
        if not phase.recorded or phase.batches > MOST_BATCHES:
            return
        for function in self.on_batch:
            function()
        self.recorder.event("evaluation_forward", model.thing, float(module.training),
                            float(gradients), site=self.sites.current(True), always=True)  # fmt: skip
        batch = next((i for i in inputs if tensors.is_plain(i)), None)
        if batch is None or not tensors.may_compute():
            return
        with torch.no_grad():
            with_rows(batch, MOST_ROWS, self.recorder.transfer, lambda rows: add(phase, rows))
            if phase.batches == 1:
                self.write_digests(model, module)

    def after(self, model, module):
        phase = self.phase
        if phase is not None and phase.recorded and phase.batches == 1:
            with torch.no_grad():
                self.write_digests(model, module)

    def write_digests(self, model, module):
        state = [t for t in module.state_dict(keep_vars=True).values() if tensors.is_plain(t)]
        if sum(t.numel() * t.element_size() for t in state) > MOST_DIGESTED_BYTES:
            return
        if any(t.is_sparse for t in state) or not tensors.may_compute():
            return
        for name, found in (("model_digest", state), ("random_digest", [torch.get_rng_state()])):
            number = digest(found)
            self.recorder.quantity(name, model.thing, number >> 32, number & 0xFFFFFFFF)

    def pass_in_evaluation_mode(self, model):
        """A forward with gradients, of which nobody knows yet whether a backward follows."""
        if model is not self.loose_model:
            self.loose, self.loose_model = 0, model
        self.loose += 1

    def backward(self):
        self.loose = 0

    def end(self):
        """Training goes on, or the program ends."""
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
        if found is not None:
            recorder.quantity("evaluation_loss", thing, *found)
        if phase.rows:
            known = len(phase.rows & self.trained)
            recorder.quantity("trained_rows", thing, float(known), float(len(phase.rows)))
            rows = len(phase.rows) + phase.repeated
            recorder.quantity("repeated_rows", thing, float(phase.repeated), float(rows))
            recorder.quantity("evaluation_fingerprint", thing, *fingerprint(phase.numbers))

    def end_loose(self):
        count, self.loose = self.loose, 0
        if count < LOOSE or self.phase is not None:
            return
        self.seen += 1
        recorded = self.seen <= ALWAYS or self.seen & (self.seen - 1) == 0
        self.phase = Phase(self.loose_model, recorded)
        thing = self.loose_model.thing
        self.recorder.event("evaluation_began", thing, always=recorded)
        for _ in range(min(count, MOST_BATCHES)):
            self.recorder.event("evaluation_forward", thing, 0.0, 1.0, always=recorded)


def add(phase, rows):
    new = set(rows)
    phase.repeated += len(rows) - len(new - phase.rows)
    phase.rows |= new
    phase.numbers.append(hash(tuple(rows)))

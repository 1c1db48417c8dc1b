"""Watches whether all steps draw the same rows of a larger tensor, without a loader: each step makes a new batch, and
all batches are equal.
"""

import weakref

from ..record.rows import row_numbers
from ..state.objects_alive import tensors_alive
from ..torch_api import private, tensors
from ..torch_api.on_host import is_at_hand

STEPS = 16  # sampled ones, all of which trained on the same rows
MOST_ELEMENTS = 1 << 22


def nothing():
    """A dead reference."""


class SameRows:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.first, self.rows, self.steps, self.done = nothing, None, set(), False

    def subscribe(self, moments):
        moments.batch_compared.append(self.enters)
        moments.rows_trained.append(self.compare)

    def enters(self, inputs):
        self.first = nothing
        if not self.done:
            first = next((given for given in inputs if tensors.is_readable(given) and is_at_hand(given)), None)
            self.first = nothing if first is None else weakref.ref(first)

    def compare(self, numbers):
        """A slice may be the part that is for training, and is no draw."""
        first, self.first = self.first(), nothing
        if first is None or self.done:
            return
        drawn = private.base_of(first) is first and first.dim() > 0 and len(numbers) == first.shape[0]
        if not drawn or self.rows not in (None, numbers):
            self.done = True
            return
        self.rows = numbers
        self.steps.add(self.recorder.step)
        if len(self.steps) == STEPS:
            self.done = True
            self.look_for_others(first)

    def look_for_others(self, batch):
        with tensors.unrecorded():
            for tensor in tensors_alive():
                if is_larger(tensor, batch) and has_rows(tensor, self.rows):
                    thing = self.recorder.thing("batch", 0, "input")
                    self.recorder.quantity("same_rows", thing, float(tensor.shape[0]), float(batch.shape[0]),
                                           self.sites.current())  # fmt: skip
                    return


def is_larger(tensor, batch):
    """At least twice as many rows of the same kind."""
    if not tensors.is_readable(tensor):
        return False
    alike = tensor.dtype == batch.dtype and tensor.device == batch.device and tensor.dim() == batch.dim() and tensor.shape[1:] == batch.shape[1:]
    return alike and tensor.shape[0] >= 2 * batch.shape[0] and tensor.numel() <= MOST_ELEMENTS


def has_rows(tensor, numbers):
    return set(numbers) <= set(row_numbers(tensor, tensor.shape[0]).tolist())

"""What tells processes that train together apart: the rows they train on, the random numbers they draw,
and the time they need while none waits for another."""

import torch

from ..record.digest import digest
from ..system import perf_counter
from ..torch_api import tensors

MOST_KEPT = 64  # of the smallest row numbers
LAST_STEP = 63  # of the first pass over the data that is looked at
MASK = (1 << 64) - 1


class Peers:
    def __init__(self, guard, recorder, groups):
        self.recorder, self.groups = recorder, groups
        for name in ("trains_on", "begins_pass", "enters", "compare", "begins_backward"):
            setattr(self, name, guard.isolated("peers")(getattr(self, name)))
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.rows, self.past = set(), False  # of the first pass, and whether it is over
        self.state = None  # of the random numbers, as a forward began
        self.ended = None  # the last step, in seconds

    def subscribe(self, moments):
        moments.rows_trained.append(self.trains_on)
        moments.batch_enters.append(self.enters)
        moments.pass_begins.append(self.begins_pass)
        moments.backward_begins.append(self.begins_backward)
        moments.sampled_gradients_used.append(self.consumed)
        moments.sampled_stepped.append(self.ends_step)

    def trains_on(self, numbers):
        """A pass ends where a row comes again."""
        if self.past or self.groups.size() == 1:
            return
        new = {number & MASK for number in numbers}
        if len(new) < len(numbers) or new & self.rows or self.recorder.step > LAST_STEP:
            self.begins_pass()
        else:
            self.rows |= new

    def begins_pass(self):
        if self.rows:
            self.write_rows()

    def write_rows(self):
        rows, self.rows, self.past = sorted(self.rows)[:MOST_KEPT], set(), True
        thing = self.recorder.thing("rows", 0, "")
        found = [(thing, row >> 32, row & 0xFFFFFFFF) for row in rows]
        self.recorder.quantities("row_sketch", found, self.groups.all())

    def enters(self, inputs):
        recorder = self.recorder
        if recorder.digests and recorder.micro_step == 0 and self.groups.size() > 1:
            self.state = generators()

    def consumed(self, optimizer, watched):
        if self.state is not None:
            self.compare()

    def compare(self):
        before, self.state = self.state, None
        if not tensors.may_compute():
            return
        for (name, state), (_, now) in zip(before, generators()):
            if not torch.equal(state, now):
                number, thing = digest([state]), self.recorder.thing("generator", 0, name)
                self.recorder.quantity("drawn_masks", thing, number >> 32, number & 0xFFFFFFFF,
                                       owner=self.groups.all())  # fmt: skip

    def begins_backward(self):
        if self.ended is not None and self.recorder.micro_step == 0 and self.groups.size() > 1:
            self.recorder.quantity("own_time", 0, perf_counter() - self.ended, owner=self.groups.all())

    def ends_step(self):
        self.ended = perf_counter()


def generators():
    """(name, state) of the generators that forward passes draw from."""
    found = [("torch", torch.get_rng_state())]
    if torch.cuda.is_initialized() and not torch.cuda.is_current_stream_capturing():
        found.append(("cuda", torch.cuda.get_rng_state()))
    return found

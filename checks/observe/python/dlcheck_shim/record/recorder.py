"""The clock and the records of this process: what every hook writes through.

Steps and backward calls are counted here; records of steps that are not sampled become gaps. Files
are made at the first training event, so that helper processes leave no trace; until then everything
is kept in an `Early`. A forked child starts afresh with files of its own.
"""

import multiprocessing
import os
import sys

from ..moments import Moments
from ..system import getpid
from ..torch_api.tensors import Transfer
from . import exits, names
from .launched import launched_ranks
from .part_times import PartTimes
from .record_files import note_loss
from .sampling import ALWAYS, is_detailed, is_sampled, takes_digest
from .writer import EVENT, GAP, QUANTITY, TraceWriter

MOST_EARLY_CALLS = 10_000
MOST_MICRO_STEPS = 1024  # of a step that are sampled


class Early:
    """Takes the calls of a TraceWriter before there is one, and repeats them on it."""

    def __init__(self):
        self.calls, self.known = [], {}

    def thing(self, kind, ordinal, name):
        return self.number_of("thing", kind, ordinal, name)

    def site(self, file, line, function):
        return self.number_of("site", file, line, function)

    def number_of(self, word, *identity):
        known = self.known.setdefault(word, {})
        if identity not in known:
            known[identity] = len(known) + 1
            self.calls.append((word, identity))
        return known[identity]

    def attribute(self, *args):
        self.calls.append(("attribute", args))

    def put(self, *args):
        if len(self.calls) < MOST_EARLY_CALLS:
            self.calls.append(("put", args))

    def put_all(self, *args):
        if len(self.calls) < MOST_EARLY_CALLS:
            self.calls.append(("put_all", args))

    def past_half_cap(self):
        return False

    def end_step(self):
        """Nothing waits for a file."""

    def flush(self):
        """As `end_step`."""

    def end(self, rows=()):
        """As `end_step`."""
        return False

    def close(self):
        """Nothing was trained, nothing is kept."""

    def repeat_on(self, writer):
        for name, args in self.calls:
            getattr(writer, name)(*args)


class Mute(Early):
    """Takes calls when there is no file to write to, and keeps nothing."""

    def attribute(self, *args):
        pass

    def put(self, *args):
        pass

    def put_all(self, *args):
        pass


class Recorder:
    def __init__(self, request, process_attributes):
        self.request, self.process_attributes = request, process_attributes
        self.forked, self.moments = False, Moments()
        self.asleep = False  # between two runs of one process
        self.always_from = sys.maxsize  # a step; all from there on are sampled
        self.rank = int(os.environ.get("RANK", "0")) & 0xFFFF
        self.reset()
        os.register_at_fork(after_in_child=self.after_fork)
        exits.watch(self.end)

    def reset(self):
        self.writer, self.opened = Early(), False
        self.step, self.micro_step = 0, 0
        self.sampled, self.digests, self.detailed = True, True, True
        self.near_sampled = True  # the step that ended last, or the one under way, is sampled
        self.gap_start, self.gap_counts = 0, {}
        self.transfer, self.parts = Transfer(), PartTimes()

    def after_fork(self):
        # The inherited writer is the parent's; it is dropped, and what waits in it is the parent's, too.
        self.forked = True
        if not self.asleep:
            self.forget()

    def forget(self):
        """Starts afresh, and all that remember anything of this run with it."""
        self.asleep = False
        self.reset()
        self.moments.begins_anew()

    def begin(self):
        """Training has begun: make the files. A failure to do so leaves the probe mute."""
        if self.opened or self.asleep:
            return
        self.opened = True
        early = self.writer
        try:
            self.writer = TraceWriter(
                self.request.run_folder,
                role=self.role(),
                size_cap_bytes=self.request.size_cap_bytes,
                rank=self.rank,
                run=self.request.run,
            )
        except OSError as error:
            note_loss(self.request.run_folder, getpid(), str(error))
            self.writer = Mute()
            return
        for key, value in (self.process_attributes | launched_ranks()).items():
            self.writer.attribute(0, key, value)
        early.repeat_on(self.writer)

    def role(self):
        data = sys.modules.get("torch.utils.data")
        if data is not None and data.get_worker_info() is not None:
            return "worker"
        if multiprocessing.current_process().daemon:
            return "daemon"  # the process that started it may end it
        if self.forked or multiprocessing.parent_process() is not None:
            return "child"
        return "main"

    def set_rank(self, rank):
        """Of all that is recorded from here on."""
        self.rank = self.writer.rank = rank & 0xFFFF

    def thing(self, kind, ordinal, name):
        return self.writer.thing(kind, ordinal, name)

    def attribute(self, thing, key, value):
        self.writer.attribute(thing, key, value)

    def event(self, name, thing=0, value=0.0, aux=0.0, site=0, owner=0, always=False, at=None):
        """Writes an event of a sampled step; of another step only the count is kept. `at` is
        (step, micro-step) of one that is written later than it happened."""
        number = names.EVENTS[name]
        if self.sampled or always or at is not None:
            step, micro_step = at or (self.step, self.micro_step)
            self.writer.put(EVENT, number, step, micro_step, thing, site, owner, value, aux)
        else:
            self.count(number)

    def quantity(self, name, thing, value, aux=0.0, site=0, owner=0, at=None):
        """Writes a value, whether the step is sampled or not; `at` is (step, micro-step)."""
        step, micro_step = at or (self.step, self.micro_step)
        number = names.QUANTITIES[name]
        self.writer.put(QUANTITY, number, step, micro_step, thing, site, owner, value, aux)

    def quantities(self, name, rows, owner=0, site=0, at=None):
        """Writes the values of many things; `rows` are (thing, value, aux)."""
        step, micro_step = at or (self.step, self.micro_step)
        self.writer.put_all(QUANTITY, names.QUANTITIES[name], step, micro_step, site, owner, rows)

    def events(self, name, rows, owner=0):
        """Writes an event of a sampled step that many things had; `rows` are (thing, value, aux)."""
        self.writer.put_all(EVENT, names.EVENTS[name], self.step, self.micro_step, 0, owner, rows)

    def count(self, number):
        """An event, by its number, of a step that is not sampled."""
        self.gap_counts[number] = self.gap_counts.get(number, 0) + 1

    def compares(self):
        """Whether a sampled step is one of the first or a detailed one, whose data and targets are compared."""
        return self.detailed or self.step < ALWAYS

    def batch_enters(self, inputs):
        self.moments.batch_enters(inputs)
        if self.compares():
            self.moments.batch_compared(inputs)

    def loss_examined(self, call):
        self.moments.loss_examined(call)
        if self.compares():
            self.moments.loss_compared(call)

    def takes_scalars(self):
        return self.sampled or not (self.asleep or self.writer.past_half_cap())

    def end_backward(self):
        """A step has any number of backward calls: all of them where no optimizer ever steps. The
        rest of a very long one is not sampled."""
        self.micro_step += 1
        if self.micro_step == MOST_MICRO_STEPS and self.sampled:
            self.sampled = self.digests = self.detailed = False
            self.gap_start = self.step

    def end_step(self):
        """Moves the clock on; a gap ends where the next sampled step begins."""
        if self.asleep:
            return
        self.transfer.end_step(self.sampled)
        self.step += 1
        micro_steps, self.micro_step = self.micro_step, 0
        was_sampled, was_many = self.sampled, micro_steps >= MOST_MICRO_STEPS
        asked_for = self.step in self.request.whole
        self.sampled = is_sampled(self.step) or self.step >= self.always_from or asked_for
        self.digests = takes_digest(self.step) or asked_for
        self.detailed = self.sampled and is_detailed(self.step) or asked_for
        self.near_sampled = was_sampled or self.sampled or was_many  # such a step began as a sampled one
        if was_sampled:
            self.gap_start = self.step
        elif self.sampled:
            self.write_gap(self.step - 1)
        self.writer.end_step()

    def gap_rows(self, last):
        return [(GAP, number, self.gap_start, 0, 0, 0, 0, float(count), float(last))
                for number, count in self.gap_counts.items()]  # fmt: skip

    def write_gap(self, last):
        for row in self.gap_rows(last):
            self.writer.put(*row)
        self.gap_counts = {}

    def end(self):
        """As `finish`, in a process that ends now by none of Python's ways; it may go on all the same."""
        if self.writer.end(self.gap_rows(self.step)):
            self.gap_start, self.gap_counts = self.step, {}

    def finish(self):
        """Writes what is still held back and closes the files."""
        if not self.opened:
            return
        self.transfer.read_all()
        self.write_gap(self.step)
        self.writer.close()
        self.writer = Mute()

"""Writes the records of one process: the twin of checks/records/trace_writer.h, byte for byte.

Records are gathered in memory and written as sealed blocks: when a block is full, when one has waited for
50 milliseconds, as a step ends, and at the end. Never harms the program it lives in: every failure makes
it go quiet, and it says so where it still can. Knows nothing of forks; the recorder drops an inherited
writer in the child.
"""

import binascii
import os
import struct
import threading

from ..system import getpid, monotonic_ns
from . import names
from .line_file import format_line
from .owned_file import Changed
from .record_files import create_files, note_loss

AHEAD_BYTES = 1 << 20
BLOCK_BYTES = 64 << 10
MOST_WAITING_BYTES = 8 << 20  # where a disk is full, or no descriptor is free, for a while
LONGEST_WAIT = 50_000_000  # nanoseconds, for a record; a write costs up to 100 microseconds
# And between two tries where nothing can be written: each costs a pass over all that waits.
LONGEST_RETRY = 64 * LONGEST_WAIT
# The first steps are written as they end: of a program that hangs early, every one counts.
RECORDS_OF_FIRST_STEPS = 256
RECORD_BYTES = 64
LAST_BYTES = 4 * RECORD_BYTES  # always left below the cap, for why it ends and the seals around it
EVENT, QUANTITY, GAP, SEAL, END = 1, 2, 3, 4, 5
HEADER = struct.Struct("<8sIHH16s16sQII")
RECORD = struct.Struct("<HHHHQqIIIIddQ")
SEALED = struct.Struct("<HHHHQQII32x")
pack_record = RECORD.pack_into


class TraceWriter:
    def __init__(
        self,
        run_folder,
        writer="python",
        role="main",
        size_cap_bytes=256 << 20,
        clock=monotonic_ns,
        process=0,
        rank=0,
        run="",
    ):
        """Creates both files. Raises OSError (no space, no permission)."""
        self.run_folder, self.process = run_folder, process or getpid()
        self.size_cap_bytes, self.clock, self.rank = size_cap_bytes, clock, rank
        # One thread may come back to it: a signal handler of the program can run inside of a call here, and
        # train or save. It finds the writer busy, as waiting for itself would last for ever.
        self.lock, self.busy, self.missed = threading.RLock(), False, 0
        self.quiet = False
        self.sequence, self.sealed = 0, 0  # of the next record, and of the next block's first
        self.sum, self.names_sum = 0, 0  # of what was written
        self.things, self.sites = {}, {}
        self.block, self.filled = bytearray(BLOCK_BYTES), HEADER.size
        self.room = 0  # up to here a record may be appended to the block without another look
        self.lines = preamble(writer, run)
        self.records, self.names = create_files(os.path.join(run_folder, "records"), self.process)
        start = clock()
        HEADER.pack_into(
            self.block, 0, names.MAGIC, 0x01020304, *names.FORMAT, writer.encode()[:15],
            role.encode()[:15], start, self.process, RECORD_BYTES,
        )  # fmt: skip
        self.wait = LONGEST_WAIT  # from one write to the next; longer after each that failed
        self.due = start + self.wait  # when what waits is to be written
        self.full = BLOCK_BYTES  # or as soon as it is so much
        self.try_to_write(SEAL)

    def past_half_cap(self):
        return self.records.size + self.filled > self.size_cap_bytes // 2

    def thing(self, kind, ordinal, name):
        """The id of a thing; the first call writes its name."""
        return self.number_of(self.things, "thing", kind, ordinal, name)

    def site(self, file, line, function):
        return self.number_of(self.sites, "site", file, line, function)

    def number_of(self, known, word, *identity):
        with self.lock:
            number = known.get(identity)
            if number is None:
                if self.is_interrupted():
                    return 0
                number = known[identity] = len(known) + 1
                self.add_line(format_line(word, number, *identity))
            return number

    def attribute(self, thing, key, value):
        """Thing 0 is the process; a later line replaces an earlier one."""
        with self.lock:
            if not self.is_interrupted():
                self.add_line(format_line("attribute", thing, key, value))

    def put(self, kind, number, step, micro_step, thing, site, owner, value, aux):
        with self.lock:
            if self.busy:  # as is_interrupted, of which a call here would be felt
                self.missed += 1
                return
            self.busy = True
            try:
                if self.filled <= self.room or self.has_room():
                    self.append(kind, number, step, micro_step, thing, site, owner, value, aux)
            finally:
                self.busy = False

    def put_all(self, kind, number, step, micro_step, site, owner, rows):
        """Appends a record for each (thing, value, aux) of `rows`."""
        with self.lock:
            if self.is_interrupted():
                return
            self.busy = True
            try:
                for thing, value, aux in rows:
                    if self.filled > self.room and not self.has_room():
                        return
                    self.append(kind, number, step, micro_step, thing, site, owner, value, aux)
            finally:
                self.busy = False

    def is_interrupted(self):
        """Whether this call comes from inside another one of its own thread; it is then counted as missed."""
        self.missed += self.busy
        return self.busy

    def has_room(self):
        """Whether a record may be written: below the cap, by a writer that is not quiet. Where a block had
        to wait, its memory grows."""
        if self.quiet:
            return False
        if self.records.size + self.filled + LAST_BYTES > self.size_cap_bytes:
            self.go_quiet(f"the record file reached its cap of {self.size_cap_bytes} bytes")
            return False
        if self.filled + LAST_BYTES > len(self.block):
            self.block.extend(bytes(BLOCK_BYTES))
        self.room = min(len(self.block), self.size_cap_bytes - self.records.size) - LAST_BYTES
        return True

    def append(self, kind, number, step, micro_step, thing, site, owner, value, aux):
        at, sequence, now = self.filled, self.sequence, self.clock()
        pack_record(
            self.block, at, kind, 0, number, self.rank, sequence, step, micro_step, thing, site, owner,
            value, aux, now,
        )  # fmt: skip
        self.filled, self.sequence = at + RECORD_BYTES, sequence + 1
        if (now >= self.due or self.filled + 2 * RECORD_BYTES > self.full) and not self.quiet:
            self.due = now + self.wait
            self.write(SEAL)

    def end_step(self):
        """Writes what has waited for a while, as the next step may never come."""
        with self.lock:
            if self.busy:
                return
            self.busy = True
            try:
                now = self.clock()
                is_early = self.sequence < RECORDS_OF_FIRST_STEPS and self.wait == LONGEST_WAIT
                if is_early or now >= self.due:
                    self.due = now + self.wait
                    self.write(SEAL)
            finally:
                self.busy = False

    def flush(self):
        """Writes all that waits, as what comes next may be the end of the process."""
        with self.lock:
            if self.busy:
                return
            self.busy = True
            try:
                self.due = self.clock() + self.wait
                self.write(SEAL)
            finally:
                self.busy = False

    def try_to_write(self, kind):
        """Names go first, so that no record that can be read speaks of one that cannot. An end may be
        written more than once: what comes behind it after all is written over it. What counts as written
        is stored without a call in between, where a signal of the program could raise."""
        if self.lines:
            lines = self.lines
            names_sum = binascii.crc32(lines, self.names_sum)
            size = self.names.append(lines)
            self.names.size, self.names_sum, self.lines = size, names_sum, b""
        block, end = self.block, self.filled + RECORD_BYTES
        seal = (kind, 0, 0, 0, self.sequence, self.names.size, self.names_sum)
        SEALED.pack_into(block, self.filled, *seal, 0)
        with memoryview(block) as view, view[:end] as whole:
            new_sum = binascii.crc32(whole, self.sum)
            SEALED.pack_into(block, self.filled, *seal, new_sum)
            size = self.records.append(whole, AHEAD_BYTES)
        if kind != END:
            self.records.size, self.sum, self.sealed, self.filled = size, new_sum, self.sequence, 0
            self.room = -1  # the cap is nearer

    def write(self, kind):
        if self.quiet or not self.filled and not self.lines and kind == SEAL:
            return
        try:
            self.try_to_write(kind)
        except OSError as error:
            # A disk may have room again, a descriptor be free again, before much has to wait.
            may_pass = not isinstance(error, Changed) and kind == SEAL
            if not may_pass or self.filled + 2 * RECORD_BYTES > MOST_WAITING_BYTES:
                self.go_quiet(str(error))
            self.wait, self.full = min(2 * self.wait, LONGEST_RETRY), MOST_WAITING_BYTES
            self.due = self.clock() + self.wait
        else:
            self.wait, self.full = LONGEST_WAIT, BLOCK_BYTES

    def go_quiet(self, reason):
        """What could not be written is given up; a record in the space taken ahead says so."""
        if self.quiet:
            return
        self.quiet, self.room = True, -1
        self.lines += format_line("attribute", 0, "quiet", reason)
        if self.records.size + self.filled + LAST_BYTES <= self.size_cap_bytes:
            self.filled, self.sequence = 0, self.sealed
        self.append(EVENT, names.EVENTS["quiet"], 0, 0, 0, 0, 0, 0.0, 0.0)
        try:
            self.try_to_write(SEAL)
            self.records.give_back(self.records.size)  # an end that was written may stand behind it
        except OSError:
            note_loss(self.run_folder, self.process, reason)

    def add_line(self, line):
        if not self.quiet:
            self.lines += line

    def end(self, rows=()):
        """Writes all that waits and these records, as of a process that ends now; it may go on all the
        same. Does nothing, and is false, where this process was interrupted inside the writer itself."""
        if not self.lock.acquire(blocking=False):
            return False
        try:
            if self.busy:
                return False
            for row in rows:
                if self.has_room():
                    self.append(*row)
            self.write(END)
        finally:
            self.lock.release()
        return True

    def close(self):
        """Writes the end, and gives back what was allocated ahead."""
        with self.lock:
            if self.missed:
                reason = f"{self.missed} calls of a signal handler that ran inside of dlcheck"
                note_loss(self.run_folder, self.process, reason)
            self.write(END)
            try:
                if self.quiet:
                    self.try_to_write(END)
                self.records.give_back(self.records.size + self.filled + RECORD_BYTES)
            except OSError:
                pass  # why was told, and zeros at the end are passed over
            self.quiet, self.room = True, -1


def preamble(writer, run):
    lines = [
        format_line("format", ".".join(map(str, names.FORMAT))),
        format_line("writer", writer, names.VERSION),
        format_line("run", run),
    ]
    lines += [format_line("event", number, name) for name, number in names.EVENTS.items()]
    lines += [format_line("quantity", number, name) for name, number in names.QUANTITIES.items()]
    return b"".join(lines)

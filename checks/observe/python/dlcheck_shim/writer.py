"""Writes the records of one process: the twin of checks/records/trace_writer.h, byte for byte.

Never harms the program it lives in: every failure makes it go quiet, and the last free slot says
so. Knows nothing of forks; the recorder drops an inherited writer in the child.
"""

import errno
import mmap
import os
import struct
import threading
import time

from . import names
from .line_file import format_line

EXTENT_BYTES = 1 << 20
RECORD_BYTES = 64
MOST_FILES_OF_ONE_PROCESS_ID = 1000
EVENT, QUANTITY, GAP = 1, 2, 3
HEADER = struct.Struct("<8sIHH16s16sQII")
pack_record = struct.Struct("<HHHHQqIIIIddQ").pack_into


class TraceWriter:
    def __init__(
        self,
        run_folder,
        writer="python",
        role="main",
        size_cap_bytes=256 << 20,
        clock=time.monotonic_ns,
        process=0,
        rank=0,
    ):
        """Creates both files. Raises OSError (no space, no permission)."""
        self.size_cap_bytes, self.clock, self.rank = size_cap_bytes, clock, rank
        self.lock = threading.Lock()
        self.quiet = False
        self.map, self.mapped, self.at, self.sequence = None, 0, 0, 0
        self.things, self.sites = {}, {}
        process = process or os.getpid()
        self.files = create_files(os.path.join(run_folder, "records"), process)
        self.grow()
        start = clock()
        self.write(preamble(writer))
        HEADER.pack_into(
            self.map,
            0,
            names.MAGIC,
            0x01020304,
            *names.FORMAT,
            writer.encode()[:15],
            role.encode()[:15],
            start,
            process,
            RECORD_BYTES,
        )
        self.at = HEADER.size

    def grow(self):
        """Allocates for certain before mapping: on a full disk a sparse map would be a SIGBUS."""
        os.posix_fallocate(self.files[0], self.mapped, EXTENT_BYTES)
        self.map = mmap.mmap(self.files[0], self.mapped + EXTENT_BYTES)
        self.mapped += EXTENT_BYTES
        self.room = min(self.mapped, self.size_cap_bytes)
        self.last_certain = self.room - 2 * RECORD_BYTES  # up to here nothing need be asked

    def past_half_cap(self):
        return self.at > self.size_cap_bytes // 2

    def thing(self, kind, ordinal, name):
        """The id of a thing; the first call writes its name."""
        return self.number_of(self.things, "thing", kind, ordinal, name)

    def site(self, file, line, function):
        return self.number_of(self.sites, "site", file, line, function)

    def number_of(self, known, word, *identity):
        with self.lock:
            number = known.get(identity)
            if number is None:
                number = known[identity] = len(known) + 1
                self.write(format_line(word, number, *identity))
            return number

    def attribute(self, thing, key, value):
        """Thing 0 is the process; a later line replaces an earlier one."""
        with self.lock:
            self.write(format_line("attribute", thing, key, value))

    def put(self, kind, number, step, micro_step, thing, site, owner, value, aux):
        with self.lock:
            if not self.quiet and (self.at < self.last_certain or self.has_room()):
                self.append(kind, number, step, micro_step, thing, site, owner, value, aux)

    def put_all(self, kind, number, step, micro_step, site, owner, rows):
        """Appends a record for each (thing, value, aux) of `rows`."""
        with self.lock:
            for thing, value, aux in rows:
                if self.quiet or self.at >= self.last_certain and not self.has_room():
                    return
                self.append(kind, number, step, micro_step, thing, site, owner, value, aux)

    def has_room(self):
        """One slot always stays free for the record that says we went quiet."""
        needed = self.at + 2 * RECORD_BYTES
        if needed <= self.room:
            return True
        if needed > self.size_cap_bytes:
            self.go_quiet(f"the record file reached its cap of {self.size_cap_bytes} bytes")
            return False
        try:
            self.grow()
        except OSError as error:
            self.go_quiet(f"the record file could not grow: {os.strerror(error.errno)}")
        return not self.quiet

    def append(self, kind, number, step, micro_step, thing, site, owner, value, aux):
        at, sequence = self.at, self.sequence
        pack_record(
            self.map, at, 0, 0, number, self.rank, sequence, step, micro_step, thing, site, owner,
            value, aux, self.clock(),
        )  # fmt: skip
        # A reader trusts only records whose kind is set, so it is stored last.
        self.map[at] = kind
        self.at, self.sequence = at + RECORD_BYTES, sequence + 1

    def go_quiet(self, reason):
        if self.quiet:
            return
        self.quiet = True
        if self.at + RECORD_BYTES <= self.mapped:
            self.append(EVENT, names.EVENTS["quiet"], 0, 0, 0, 0, 0, 0.0, 0.0)
        try:
            # Best effort: on a full disk this line may be lost, the record above is not.
            os.write(self.files[1], format_line("attribute", 0, "quiet", reason))
        except OSError:
            pass

    def write(self, line):
        if self.quiet:
            return
        try:
            while line:
                line = line[os.write(self.files[1], line) :]
        except OSError as error:
            self.go_quiet(f"names could not be written: {os.strerror(error.errno)}")

    def close(self):
        """Gives back what was allocated ahead."""
        with self.lock:
            self.quiet = True
            self.map.close()
            os.ftruncate(self.files[0], self.at)
            for file in self.files:
                os.close(file)


def create_files(folder, process):
    """Record file and side file; a process id can come back, so each use gets files of its own."""
    os.makedirs(folder, mode=0o755, exist_ok=True)
    for use in range(MOST_FILES_OF_ONE_PROCESS_ID):
        stem = os.path.join(folder, f"{process}-{use}")
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            records = os.open(stem + ".records", flags, 0o644)
        except FileExistsError:
            continue
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        return records, os.open(stem + ".names", flags, 0o644)
    raise OSError(errno.EEXIST, "too many record files of one process id")


def preamble(writer):
    lines = [
        format_line("format", ".".join(map(str, names.FORMAT))),
        format_line("writer", writer, names.VERSION),
    ]
    lines += [format_line("event", number, name) for name, number in names.EVENTS.items()]
    lines += [format_line("quantity", number, name) for name, number in names.QUANTITIES.items()]
    return b"".join(lines)

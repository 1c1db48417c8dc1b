"""Seals the records of one process anew, as checks/records/record.h describes it: a trace that was
recorded once becomes one of another run, in blocks of another size.

  sealing.py FROM    copies the records in the folder FROM into the run of $DLCHECK_REQUEST
"""

import binascii
import os
import pathlib
import struct
import sys

RECORD = 64
SEAL, END = 4, 5
SEALED = struct.Struct("<HHHHQQII32x")


def records_of(data):
    """The records of a file, without its header and its seals."""
    slots = (data[at : at + RECORD] for at in range(RECORD, len(data), RECORD))
    return [slot for slot in slots if 0 < slot[0] < SEAL]


def sealed(header, records, names, size=1 << 20, last=END):
    """The bytes of a record file that has `size` records in a block."""
    blocks = [records[at : at + size] for at in range(0, len(records), size)] or [[]]
    data, total, count = b"", 0, 0
    for number, block in enumerate(blocks):
        count += len(block)
        kind = last if number + 1 == len(blocks) else SEAL
        seal = (kind, 0, 0, 0, count, len(names), binascii.crc32(names))
        body = (b"" if number else header) + b"".join(block)
        total = binascii.crc32(body + SEALED.pack(*seal, 0), total)
        data += body + SEALED.pack(*seal, total)
    return data


def of_run(names, run):
    """A side file that says another run."""
    lines = [line for line in names.split(b"\n") if not line.startswith(b"run\t")]
    return b"\n".join([*lines[:2], b"run\t" + run.encode(), *lines[2:]])


def copy(source, target, run, size=1 << 20, last=END):
    """Writes the records in the folder `source` into `target`, which is made, as those of `run`."""
    target.mkdir(exist_ok=True)
    for path in source.glob("*.records"):
        data = path.read_bytes()
        names = of_run(path.with_suffix(".names").read_bytes(), run)
        (target / path.name).with_suffix(".names").write_bytes(names)
        whole = sealed(data[:RECORD], records_of(data), names, size, last)
        (target / path.name).write_bytes(whole)


def main():
    request = pathlib.Path(os.environ["DLCHECK_REQUEST"])
    lines = dict(line.split("\t") for line in request.read_text().splitlines())
    copy(pathlib.Path(sys.argv[1]), request.parent / "records", lines["run"])


if __name__ == "__main__":
    main()

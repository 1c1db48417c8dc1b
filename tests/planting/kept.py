"""The outcomes of pairs that were run, one line of tab-separated text each, in docs/planting.tsv.

The whole table takes hours, so a run may stop and go on at any time. A line names the text of the planted program
by a digest: where the fault or the program changed since, the pair is run again and the old line does not count.
"""

import collections
import hashlib
import pathlib

FILE = pathlib.Path(__file__).parents[2] / "docs/planting.tsv"
COUNTED = ("named", "noticed", "missed")
# `first`: the check that the report names first. `new`: by check, the severity of what the healthy program lacks.
Row = collections.namedtuple("Row", "program fault planted outcome first new seconds why", defaults=("", "", "", ""))


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def planted_digest(text):
    return digest(text)[:12]


def read(path=FILE):
    """By (program, fault): the row that was written last."""
    if not pathlib.Path(path).exists():
        return {}
    rows = (Row(*line.split("\t")) for line in pathlib.Path(path).read_text().splitlines())
    return {(row.program, row.fault): row for row in rows}


def line_of(row):
    return "\t".join(str(value).replace("\t", " ").replace("\n", " ") for value in row) + "\n"


def append(path, row):
    with open(path, "a") as file:
        file.write(line_of(row))


def tidy(path=FILE):
    """Sorts the file, and leaves out lines that later ones replace."""
    rows = read(path)
    pathlib.Path(path).write_text("".join(line_of(rows[key]) for key in sorted(rows)))

#!/usr/bin/env python3
"""Writes docs/planting.md from the lines of run_pairs.py: what was named of each fault, in how many programs.

    table.py PAIRS.jsonl [OUT.md]
"""

import collections
import json
import pathlib
import sys

import data  # noqa: F401
import loop  # noqa: F401
import losses  # noqa: F401
import models  # noqa: F401
import optimization  # noqa: F401
import tree

HEAD = """# Every fault in every program

Made by `tests/planting` ; do not edit. A fault is a change of a program's syntax tree, planted in every program
that has a place for it. No program was written for a fault. A pair counts if the program runs to its end and ends
in another state than without the fault. Each pair is one plain run, without `--deep`.

- **named**: a check that covers the fault has a finding that the healthy program does not have.
- **noticed**: only other checks have new errors or warnings.
- **missed**: there is no new error or warning. Notes of other checks count as missed.

"""


def rows_of(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def spoken(name):
    return name.replace("_", " ")


def counted(rows):
    """By fault, the programs of each outcome."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        outcome = "missed" if row["outcome"] == "noted" else row["outcome"]
        if outcome in ("named", "noticed", "missed"):
            found[row["fault"]][outcome].append(row["program"])
    return found


def page(rows):
    found = counted(rows)
    totals = collections.Counter({o: sum(len(f[o]) for f in found.values()) for o in ("named", "noticed", "missed")})
    pairs = sum(totals.values())
    quiet = sum(row["outcome"] in ("crash", "no effect", "unrepeatable") for row in rows)
    lines = [HEAD + f"**{pairs} pairs count: {totals['named']} named ({share(totals['named'], pairs)}), "
             f"{totals['noticed']} noticed, {totals['missed']} missed.** {quiet} pairs crash, change nothing or cannot be repeated.\n",
             "| fault | pairs | named | share | noticed | missed in |", "|---|---|---|---|---|---|"]  # fmt: skip
    for name in sorted(found, key=lambda n: len(found[n]["named"]) / sum(map(len, found[n].values()))):
        outcomes = found[name]
        count = sum(map(len, outcomes.values()))
        lines.append(f"| {spoken(name)} (`{tree.FAULTS[name].covered}`) | {count} | {len(outcomes['named'])} | "
                     f"{share(len(outcomes['named']), count)} | {len(outcomes['noticed'])} | {', '.join(sorted(outcomes['missed']))} |")  # fmt: skip
    return "\n".join(lines) + "\n"


def share(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


if __name__ == "__main__":
    text = page(rows_of(sys.argv[1]))
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(text)
        print(next(line.strip("*") for line in text.splitlines() if "pairs count" in line))
    else:
        print(text)

#!/usr/bin/env python3
"""Writes docs/planting.md from the outcomes that run_pairs.py kept: what was named of each fault, in how many programs.

    table.py [OUTCOMES.tsv [OUT.md]]
"""

import collections
import pathlib
import sys

import data  # noqa: F401
import kept
import loop  # noqa: F401
import losses  # noqa: F401
import models  # noqa: F401
import optimization  # noqa: F401
import tree

HEAD = """# Every fault in every program

Made by `tests/planting/table.py` from `planting.tsv`; do not edit. A fault is a change of a program's syntax tree, planted in every program
that has a place for it. No program was written for a fault. A pair counts if the program runs to its end and ends
in another state than without the fault. Each pair is one plain run, without `--deep`.

- **named**: a check that covers the fault has a finding that the healthy program does not have.
- **noticed**: only other checks have new errors or warnings.
- **missed**: there is no new error or warning. Notes of other checks count as missed.

"""


def spoken(name):
    return name.replace("_", " ")


def counted(rows):
    """By fault, the programs of each outcome."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        if row.outcome in kept.COUNTED:
            found[row.fault][row.outcome].append(row.program)
    return found


def page(rows):
    found, programs = counted(rows), len({row.program for row in rows})
    totals = collections.Counter({o: sum(len(f[o]) for f in found.values()) for o in kept.COUNTED})
    pairs = sum(totals.values())
    quiet = sum(row.outcome in ("crash", "no effect", "unrepeatable") for row in rows)
    lines = [HEAD + f"**{pairs} pairs count: {totals['named']} named ({share(totals['named'], pairs)}), "
             f"{totals['noticed']} noticed, {totals['missed']} missed.** {quiet} pairs crash, change nothing or cannot be repeated. "
             f"So far, {programs} programs have had their turn, in an order without meaning.\n",
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
    text = page(list(kept.read(*sys.argv[1:2]).values()))
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(text)
        print(next(line.strip("*") for line in text.splitlines() if "pairs count" in line))
    else:
        print(text)

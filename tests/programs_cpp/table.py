"""Forty faults and more in each of four C++ programs that know nothing of dlcheck: which are found, and where.

  table.py [--jobs N] [PROGRAM ...]   print a line for each fault, and a table

A fault is found first if the first cause of the report is one of its checks in table_cases.py, and has its line if a
finding of that check points into the program. Needs a built tree.
"""

import argparse
import collections
import concurrent.futures
import re
import tempfile
from pathlib import Path

from table_cases import CHECKS
from unchanged_test import SOURCES, run

PROGRAMS = ("classifier", "gpt", "gan", "resumed")


def faults(program):
    """The names of the faults that a program may have, in the order of the alphabet."""
    text = (SOURCES / "table" / f"{program}.cc").read_text()
    calls = re.findall(r"\bIs\(([^;{}]*?)\)", text, re.DOTALL)
    return sorted({name for call in calls for name in re.findall(r'"([a-z_]+)"', call)})


def found(program, fault):
    """(the causes in the order of the report; "first", "later" or "missed"; the lines that the fault's checks name)"""
    with tempfile.TemporaryDirectory() as folder:
        _, result = run(folder, f"table_{program}", *([fault] if fault else []))
    order = [cause["id"] for cause in result["order"]]
    wanted = CHECKS[fault].split() if fault else []
    places = [place for check in result["checks"] if check["id"] in wanted
              for finding in check["findings"] for place in finding["places"]]  # fmt: skip
    lines = {place["line"] for place in places
             if place.get("line") and Path(place.get("file", "")).name == f"{program}.cc"}  # fmt: skip
    state = "first" if order and order[0] in wanted else "later" if set(order) & set(wanted) else "missed"
    return order, state, sorted(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=PROGRAMS, metavar="PROGRAM")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    cases = [(program, fault) for program in options.programs for fault in faults(program)]
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (program, fault), (order, state, lines) in zip(cases, pool.map(lambda case: found(*case), cases)):
            counts[program, state] += 1
            counts[program, "line"] += bool(lines)
            print(f"{program:12} {fault:34} {state:7} {lines or ''} {', '.join(order[:3])}", flush=True)
    print("\n| program | faults | found first | found later | missed | with a line |\n|---|---|---|---|---|---|")
    for program in options.programs:
        states = " | ".join(str(counts[program, state]) for state in ("first", "later", "missed", "line"))
        print(f"| {program} | {len(faults(program))} | {states} |")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Holds the tests to the time that they take: ci/durations.json has the seconds of each.

  ci/durations.py JUNIT.xml            print the twenty slowest; exit 1 where a test takes more than twice its time
  ci/durations.py JUNIT.xml --update   write what was measured

JUNIT.xml is of `ctest --output-junit`. A machine that is slower as a whole, or busy, is no fault of a test:
seconds are divided by the median ratio of all tests, where that is above 1.
"""

import json
import pathlib
import statistics
import sys
import xml.etree.ElementTree as tree

LEDGER = pathlib.Path(__file__).resolve().parent / "durations.json"
SLOWEST = 20
SLACK = 30  # seconds beyond that: short tests vary
MOST = 2  # times the seconds of the ledger
# Of tests that draw their cases by the commit: some cases take several times as long as others.
DRAWN = {"compare_test", "experiments_programs_cpp_test", "failed_calls_test", "fault_matrix_test", "frameworks_test", "goldens_ranks",
         "goldens_scaler", "goldens_sharing", "goldens_training", "healthy_programs_test",
         "hostile_models_test", "killed_test", "odd_programs_test", "planted_programs_test",
         "python_hosts_test", "rank_losses_test", "rank_network_test", "rank_programs_test", "ranks_test",
         "resumed_test", "saving_test", "shared_start_test", "table_programs_cpp_test",
         "trainer_harmless_test", "unchanged_programs_cpp_test"}  # fmt: skip
MOST_DRAWN = 4


def measured(path):
    """Seconds of every test that ran, by its name."""
    cases = tree.parse(path).getroot().iter("testcase")
    return {case.get("name"): float(case.get("time")) for case in cases if case.get("status") != "disabled"}


def slowness_of(seconds, ledger):
    """How much slower this machine is than that of the ledger, at least 1."""
    ratios = [seconds[name] / ledger[name] for name in seconds.keys() & ledger.keys() if ledger[name] >= 1]
    return max(1.0, statistics.median(ratios)) if ratios else 1.0


def doubled(seconds, ledger):
    """(name, seconds, its seconds in the ledger) of tests that take too long, on a machine like that one."""
    slowness = slowness_of(seconds, ledger)
    return [(name, taken / slowness, ledger[name]) for name, taken in sorted(seconds.items())
            if name in ledger and taken / slowness > most_of(name) * ledger[name] + SLACK]  # fmt: skip


def most_of(name):
    return MOST_DRAWN if name in DRAWN else MOST


def main():
    path, *options = sys.argv[1:]
    seconds = measured(path)
    if "--update" in options:
        new = {name: round(taken, 1) for name, taken in seconds.items()}
        LEDGER.write_text(json.dumps(new, indent=1, sort_keys=True) + "\n")
        return 0
    ledger = json.loads(LEDGER.read_text()) if LEDGER.exists() else {}
    print(f"== the {SLOWEST} slowest of {len(seconds)} tests, in seconds (in parentheses: {LEDGER.name})")
    for name, taken in sorted(seconds.items(), key=lambda entry: -entry[1])[:SLOWEST]:
        print(f"   {taken:7.1f} ({ledger.get(name, 0):6.1f})  {name}")
    late = doubled(seconds, ledger)
    for name, taken, before in late:
        print(f"{name} takes {taken:.0f} s, more than {most_of(name)} times the {before:.0f} s of {LEDGER.name}: make it quicker, "
              f"or write down why with ci/test --update-durations")  # fmt: skip
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())

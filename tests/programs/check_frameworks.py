"""Runs the programs of frameworks under `dlcheck run`, plants faults in them, and prints the tables.

Usage: check_frameworks.py [--jobs N] [--framework F] [--deep] [--healthy | --faults]

Exits 1 if a healthy program has an error or a warning or misses its score, if a fault is not caught, or
if a check reaches no verdict on a framework's programs although no exception says why.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import time

import framework_plants  # noqa: F401
import framework_pool
from check_faults import FAULTS, launcher
from check_faults import run as run_planted
from check_healthy import judged
from framework_pool import EXCEPTIONS, PROCESSES, PROGRAMS
from watching import FOLDER, PYTHON


def installed():
    """The frameworks that are there; says what DeepSpeed lacks, which cannot be had everywhere."""
    words = [PYTHON, "-W", "ignore", "-c", "import deepspeed"]
    process = subprocess.run(words, capture_output=True, text=True, check=False,
                             env=dict(os.environ, DS_ACCELERATOR="cpu"))  # fmt: skip
    if process.returncode == 0:
        return list(PROGRAMS)
    print(f"DeepSpeed is left out: {process.stderr.strip().splitlines()[-1]}", flush=True)
    return [name for name in PROGRAMS if name != "DeepSpeed"]


def run_healthy(framework, program, options=()):
    """(seconds, problems, result)."""
    words = [PYTHON, "-W", "ignore", *launcher(PROCESSES.get(framework, 1)),
             FOLDER / "frameworks" / f"{program}.py"]  # fmt: skip
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dlcheck-framework-") as folder:
        problems, result = judged(words, folder, options)
    return time.monotonic() - begin, problems, result


def healthy(names, pool, options=()):
    """Prints the healthy programs; gives how many are bad, and the results by framework."""
    pairs = [(name, program) for name in names for program in PROGRAMS[name]]
    bad, results = 0, {name: [] for name in names}
    for (name, program), run in zip(pairs, pool.map(lambda pair: run_healthy(*pair, options), pairs)):
        seconds, problems, result = run
        results[name] += [result] if result else []
        bad += bool(problems)
        print(f"{name:11} {program:26} {seconds:6.1f} s  {'; '.join(problems) or '-'}", flush=True)
    return bad, results


def faults(names, pool):
    """Prints what became of the faults in programs of frameworks; gives how many are not caught."""
    pairs = [(fault, host) for fault, planted in FAULTS.items() for host in planted.hosts
             if planted.folder == "frameworks" and framework_pool.framework_of(host) in names]
    wrong = 0
    for (fault, host), verdict in zip(pairs, pool.map(lambda pair: run_planted(*pair), pairs)):
        wrong += verdict is not None
        name = framework_pool.framework_of(host)
        print(f"{name:11} {fault:34} {FAULTS[fault].check:32} {verdict or 'caught'}"[:400], flush=True)
    print(f"{len(pairs)} plants, {wrong} not caught as claimed")
    return wrong


def table(results):
    """Prints framework x check; gives how many cells are neither reached nor excused."""
    columns = {name: framework_pool.verdicts(found) for name, found in results.items()
               if name not in framework_pool.UNTABLED}  # fmt: skip
    print(f"\n| check | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    cells, excused, missing = 0, [], []
    for check in sorted(set().union(*columns.values())):
        if all(framework_pool.outside(check, column[check][1]) for column in columns.values()):
            continue
        row = []
        for name, column in columns.items():
            reached, reasons = column[check]
            cells += 1
            row.append("yes" if reached else "-")
            if not reached and (name, check) in EXCEPTIONS:
                excused.append(f"{name}, {check}: {EXCEPTIONS[name, check]}")
                row[-1] = str(len(excused))
            elif not reached and not framework_pool.outside(check, reasons):
                missing.append(f"{name}, {check}: {'; '.join(sorted(reasons))}")
            elif (name, check) in EXCEPTIONS:
                missing.append(f"{name}, {check}: a verdict, and so no exception")
        print(f"| {check} | {' | '.join(row)} |")
    print(f"\n{cells} cells, {len(excused)} exceptions")
    print(*(f"{number}. {text}" for number, text in enumerate(excused, 1)), sep="\n")
    print(*(f"not reached: {text}" for text in missing), sep="\n")
    return len(missing) + (10 * len(excused) > cells)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--framework", choices=PROGRAMS)
    parser.add_argument("--deep", action="store_true", help="healthy programs with every experiment")
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--faults", action="store_true")
    options = parser.parse_args()
    names = [options.framework] if options.framework else installed()
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if not options.faults:
            bad, results = healthy(names, pool, ("--deep",) if options.deep else ())
            wrong += bad + table(results)
        if not options.healthy:
            wrong += faults(names, pool)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

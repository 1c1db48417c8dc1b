"""Runs the programs of several processes under `dlcheck run`, and plants faults in them.

Usage: check_ranks.py [--healthy | --faults] [--fault F] [--deep] [--draw] [--jobs N] [NAME ...]

Exits 1 if a healthy program has an error or a warning or misses its score, or if a fault is not caught.
"""

import argparse
import concurrent.futures
import sys
import tempfile
import time

import rank_plants  # noqa: F401
from check_faults import launcher
from check_faults import run as run_planted
from check_healthy import judged
from drawing import drawn
from planting import FAULTS
from rank_pool import PROCESSES
from watching import FOLDER, PYTHON


def run_healthy(name, options=()):
    """(seconds, problems)."""
    words = [PYTHON, "-W", "ignore", *launcher(PROCESSES[name]), FOLDER / "ranks" / f"{name}.py"]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dlcheck-ranks-") as folder:
        problems, _ = judged(words, folder, options)
    return time.monotonic() - begin, problems


def healthy(names, options, pool):
    """Prints the healthy programs; gives how many are bad."""
    bad = 0
    for name, (seconds, problems) in zip(names, pool.map(lambda name: run_healthy(name, options), names)):
        bad += bool(problems)
        print(f"{name:26} {seconds:6.1f} s  {'; '.join(problems) or '-'}", flush=True)
    print(f"{len(names)} programs, {bad} with findings")
    return bad


def faults(names, chosen, pool, draw):
    """Prints what became of the faults; gives how many are not caught."""
    pairs = []
    for number, (fault, planted) in enumerate(FAULTS.items()):
        hosts = [host for host in planted.hosts if host in names]
        if planted.folder == "ranks" and chosen in (None, fault, planted.check) and hosts:
            taken = [hosts[number % len(hosts)]] if draw else hosts
            pairs += [(fault, host) for host in taken]
    pairs, wrong = drawn(pairs, 15) if draw else pairs, 0
    for (fault, host), verdict in zip(pairs, pool.map(lambda pair: run_planted(*pair), pairs)):
        wrong += verdict is not None
        print(f"{fault:30} {host:20} {FAULTS[fault].check:26} {verdict or 'caught'}"[:400], flush=True)
    print(f"{len(pairs)} plants, {wrong} not caught as claimed")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--fault", help="a fault's name, or the check that is to find it")
    parser.add_argument("--deep", action="store_true", help="healthy programs with every experiment")
    parser.add_argument("--draw", action="store_true",
                        help="a share of each, drawn by the commit, each fault in one program")
    parser.add_argument("--jobs", type=int, default=1)  # each starts several processes
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names, wrong = options.names or list(PROCESSES), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if not options.faults and not options.fault:
            wrong += healthy(drawn(sorted(names), 12) if options.draw else names, ["--deep"] * options.deep, pool)
        if not options.healthy:
            wrong += faults(names, options.fault, pool, options.draw)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

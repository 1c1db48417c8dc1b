"""Odd programs are the same watched and bare: output, errors, status, files, weights, optimizer and random
state, and what they count.

Usage: odd_programs_test.py                       a few, drawn by the commit, and those that close descriptors
       odd_programs_test.py --all [--part K/N] [--jobs N]
       odd_programs_test.py --only TEXT           those whose name holds the text
       odd_programs_test.py --all --bare          two bare runs of each: are they the same?
"""

import argparse
import concurrent.futures
import importlib
import sys
import unittest

from comparing import FOLDER, compare, program_of
from drawing import drawn

sys.path.append(str(FOLDER / "programs"))
FEW = 6  # that are drawn, about


def all_programs():
    """The entries of all tables, by 'area: name'."""
    found = {}
    for path in sorted((FOLDER / "programs").glob("*.py")):
        table = importlib.import_module(path.stem).PROGRAMS
        found |= {f"{path.stem}: {name}": entry for name, entry in table.items()}
    return found


def told(name, skipped, problems):
    result = f"not here: {skipped}" if skipped else "; ".join(problems) or "the same"
    return f"{name:75} {result}"


def compared(programs, jobs, watches=True):
    """(name, reason to skip it, differences) of each, as it is known."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {pool.submit(compare, entry, watches): name for name, entry in programs.items()}
        for run in concurrent.futures.as_completed(runs):
            yield runs[run], *run.result()


class OddPrograms(unittest.TestCase):
    def test_a_few_of_them_and_all_that_close_descriptors_are_not_changed(self):
        programs = all_programs()
        chosen = [name for name, entry in programs.items() if program_of(entry).closes]
        rest = sorted(programs.keys() - set(chosen))
        chosen += drawn(rest, max(1, len(rest) // FEW))
        for name, skipped, problems in compared({name: programs[name] for name in chosen}, jobs=2):
            with self.subTest(name):
                print(told(name, skipped, problems), file=sys.stderr)
                self.assertEqual(problems, [])

    def test_there_are_more_than_a_hundred(self):
        self.assertGreater(len(all_programs()), 110)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--part", default="1/1", help="K/N: the K-th of N parts")
    parser.add_argument("--only", default="")
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    programs = {name: entry for name, entry in sorted(all_programs().items()) if options.only in name}
    names = list(programs)[part - 1 :: parts]
    same = differing = elsewhere = 0
    for name, skipped, problems in compared({n: programs[n] for n in names}, options.jobs, not options.bare):
        print(told(name, skipped, problems), flush=True)
        elsewhere += bool(skipped)
        differing += bool(problems)
        same += not skipped and not problems
    left_out = f", {elsewhere} not possible here" if elsewhere else ""
    print(f"{len(names)} programs: {same} the same, {differing} differ{left_out}")
    return 1 if differing else 0


if __name__ == "__main__":
    if any(word.startswith("--") for word in sys.argv[1:]):
        sys.exit(main())
    unittest.main()

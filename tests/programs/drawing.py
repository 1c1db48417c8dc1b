"""Which share of many runs the tests take: another one after each commit. DLCHECK_ALL=1 takes all of them, as
`ci/nightly drawn` does."""

import os
import subprocess
import unittest

from watching import SOURCE


def drawn(cases, share):
    """One in `share` of the cases, in their order, from an offset that the commit gives; one at least."""
    if os.environ.get("DLCHECK_ALL"):
        return cases
    share = min(share, max(1, len(cases)))
    return cases[number_of_commit() % share :: share]


def drawn_tests(share):
    """For a class of tests: skips all but one in `share` of its own test methods."""

    def draw(case):
        names = sorted(name for name in vars(case) if name.startswith("test_"))
        for name in set(names) - set(drawn(names, share)):
            setattr(case, name, unittest.skip("not drawn by this commit; DLCHECK_ALL=1 takes all")(vars(case)[name]))
        return case

    return draw


def number_of_commit():
    """0 without git."""
    try:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=SOURCE, capture_output=True,
                                text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(commit, 16)

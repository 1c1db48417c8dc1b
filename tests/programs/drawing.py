"""Which share of many runs the tests take: another one after each commit."""

import os
import subprocess

from watching import SOURCE


def drawn_third(names):
    """Every third of the sorted names, from an offset that the commit gives (0 without git)."""
    return drawn(sorted(names), 3)


def drawn(cases, share):
    """One in `share` of the cases, in their order, from an offset that the commit gives; all of them where
    DLCHECK_ALL is set, as in `ci/nightly drawn`."""
    if os.environ.get("DLCHECK_ALL"):
        return cases
    return cases[number_of_commit() % share :: share]


def number_of_commit():
    """0 without git."""
    try:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=SOURCE, capture_output=True,
                                text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(commit, 16)

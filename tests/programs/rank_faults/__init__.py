"""Faults to plant in programs of several processes."""

from planting import add

LONGEST = "60"  # seconds: some faults make processes wait for each other


def plant(name, check, options=(), **hosts):
    add(name, check, ("--timeout", LONGEST, *options), folder="ranks", **hosts)

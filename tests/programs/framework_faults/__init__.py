"""Faults to plant in programs of frameworks."""

import functools

from planting import add

plant = functools.partial(add, folder="frameworks")

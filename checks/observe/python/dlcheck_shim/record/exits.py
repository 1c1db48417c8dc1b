"""Ways in which a process ends that no handler of the interpreter sees: os._exit, and the start of another
program in its place.

Forked children of multiprocessing and workers of loaders end by the first.
"""

import os
import sys

from ..torch_api.wrapping import preceded_by, replace

ENDING = []  # functions called before this process ends so


def watch(end):
    """`end` is called before each such ending; it may be called and the process go on all the same."""
    if not ENDING:
        replace([os], "_exit", preceded_by(lambda args, kwargs: end_all()))
        sys.addaudithook(heard)
    ENDING.append(end)


def heard(event, args):
    if event == "os.exec":
        end_all()


def end_all():
    for end in ENDING:
        try:
            end()
        except Exception:
            pass  # the process ends anyway

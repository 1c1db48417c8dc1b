"""The Python probe of dlcheck: watches a PyTorch training program without a change to it.

Started by boot/sitecustomize.py. Only the standard library is imported until the program itself
imports torch. It changes no argument, calls no random function, puts nothing on the program's
objects, and its exceptions never reach the program.
"""

import os

from .after_import import AfterImport
from .request import read_request


def start(folder):
    """`folder` holds the request. Raises only before anything is changed."""
    request = read_request(folder)
    if os.environ.get("DLCHECK_SHIM_RAISE") == "1":
        AfterImport(reactions(request)).install()
        return
    AfterImport({name: silent(react) for name, react in reactions(request).items()}).install()


def reactions(request):
    watching = []

    def torch_arrived(torch):
        from .watch import Watch

        watching.append(Watch(request))
        watching[0].begin()

    def numpy_arrived(numpy):
        if watching:
            watching[0].calls.watch_numpy(numpy)

    return {"torch": torch_arrived, "numpy": numpy_arrived}


def silent(react):
    def call(module):
        try:
            react(module)
        except Exception:  # the program goes on unwatched
            pass

    return call

"""The Python probe of dlcheck: watches a PyTorch training program without a change to it.

Started by boot/sitecustomize.py. Only the standard library is imported until the program itself
imports torch. It changes no argument, calls no random function, puts nothing on the program's
objects, and its exceptions never reach the program.
"""

import gc
import os

from . import shared_start
from .after_import import AfterImport
from .loggers import LOGGERS
from .record.request import read_request
from .system import open_file

MOST_LETTERS = 200  # of what is told
WATCHING = []  # the one Watch of this process, once torch is there


def start(folder):
    """`folder` holds the request. Raises only before anything is changed."""
    request = read_request(folder)
    if os.environ.get("DLCHECK_SHIM_RAISE") == "1":
        AfterImport(reactions(request, folder)).install()
        return
    quiet = {name: silent(react, request) for name, react in reactions(request, folder).items()}
    AfterImport(quiet).install()


def begin(folder):
    """As `start`, in the middle of a process, and possibly not for the first time."""
    if WATCHING:
        WATCHING[0].begin_again(read_request(folder))
    else:
        start(folder)


def end():
    """Nothing is recorded from here on, until the next `begin`."""
    if WATCHING:
        WATCHING[0].end()


def reactions(request, folder):
    inherited = {} if request.channel is None else shared_start.open_files()

    def torch_arrived(torch):
        from .watch import Watch

        if request.channel is not None:
            request.take(read_request(shared_start.wait(request, folder, inherited)))
        # Python collects garbage after so many new objects, and a collection of all that torch holds takes
        # a tenth of a second: those that the probe makes as it begins bring none forward.
        was_enabled = gc.isenabled()
        try:
            gc.disable()
            WATCHING.append(Watch(request))
            WATCHING[0].begin()
        finally:
            if was_enabled:
                gc.enable()

    def arrived(module):
        if WATCHING:
            WATCHING[0].arrived(module)

    return {
        "torch": torch_arrived,
        "gymnasium.wrappers.common": arrived,
        "numpy": arrived,
        "safetensors.torch": arrived,
        "torch.distributed": arrived,
        **dict.fromkeys(LOGGERS, arrived),
    }


def silent(react, request):
    def call(module):
        try:
            react(module)
        except Exception as error:  # the program goes on unwatched
            tell(error, request.run_folder)

    return call


def tell(error, run_folder):
    """A file says why nothing is recorded; of several processes, what the last one met."""
    line = " ".join(f"{type(error).__name__}: {error}".split())
    try:
        path = os.path.join(run_folder, "unwatched")
        with open_file(path, "w", encoding="ascii", errors="backslashreplace") as file:
            file.write(line[:MOST_LETTERS])
    except OSError:
        pass

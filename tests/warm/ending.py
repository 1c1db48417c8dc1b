"""How a fork ends: as Python does, but for torch's modules, which take a quarter of a second to be torn down and are
the same in all programs.
"""

import atexit
import contextlib
import gc
import os
import sys
import threading

UNWRITTEN = 120  # the status of Python where what was printed could not be written


def status_of(code):
    """The status of SystemExit's code; None where Python prints the code."""
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else None


def end(status):
    """Waits for threads, calls what was registered for the end, deletes the program's globals, and ends."""
    threading._shutdown()
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    # Nobody else holds the program's globals: what is deleted with them may still print.
    del sys.modules["__main__"]
    gc.collect()
    os._exit(status if written() else UNWRITTEN)


def written():
    """Flushes both streams. Python's status tells only of the first."""
    with contextlib.suppress(BaseException):
        sys.stderr.flush()
    try:
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
    except BaseException:
        return False
    return True

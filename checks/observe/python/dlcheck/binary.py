"""Where the `dlcheck` binary is: inside this package in a wheel, else the command on the path."""

import os
import shutil
import sys

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def path():
    """Raises FileNotFoundError if there is none."""
    own = os.path.join(PACKAGE, "bin", "dlcheck")
    found = own if os.path.exists(own) else shutil.which("dlcheck")
    if found is None:
        raise FileNotFoundError("dlcheck: the command is neither in this package nor on PATH")
    return found


def main():
    """The console script: becomes the binary."""
    binary = path()
    os.execv(binary, [binary, *sys.argv[1:]])

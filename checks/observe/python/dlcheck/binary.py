"""Where the binaries are: inside this package in a wheel, else the commands on the path."""

import os
import shutil
import sys

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def path(name="dlcheck"):
    """Raises FileNotFoundError if there is none."""
    own = os.path.join(PACKAGE, "bin", name)
    found = own if os.path.exists(own) else shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name}: the command is neither in this package nor on PATH")
    return found


def main():
    """The console script: becomes the binary."""
    binary = path()
    os.execv(binary, [binary, *sys.argv[1:]])

"""Where the pool of programs is, and what they are watched with."""

import os
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCE = FOLDER.parents[1]
DLCHECK = pathlib.Path(os.environ.get("DLCHECK_BUILD", SOURCE / "build")) / "bin" / "dlcheck"
PYTHON = os.environ.get("DLCHECK_TORCH_PYTHON") or str(SOURCE / ".venv" / "bin" / "python3")


def environment():
    """This process's environment, with one thread and without a request of its own."""
    variables = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    variables.pop("DLCHECK_REQUEST", None)
    return variables

"""Where the pool of programs is, and what they are watched with."""

import os
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCE = FOLDER.parents[1]
DLCHECK = pathlib.Path(os.environ.get("DLCHECK_BUILD", SOURCE / "build")) / "bin" / "dlcheck"
PYTHON = os.environ.get("DLCHECK_TORCH_PYTHON") or str(SOURCE / ".venv" / "bin" / "python3")

sys.path.append(str(SOURCE))
from tests.warm import servers  # noqa: E402

# Found by the times of steps, which a busy machine changes.
BY_TIME = {"performance/step_stalls", "performance/step_time_growth"}


def python(*words):
    """A command that runs a program in a fork of a process that has torch, as `PYTHON -W ignore WORDS` would."""
    return servers.command(PYTHON, *words)


def environment():
    """This process's environment, with one thread and without a request of its own."""
    variables = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    variables.pop("DLCHECK_REQUEST", None)
    return variables


def allows_layers():
    """Whether this system lets the user of this process mount a layer over a folder."""
    script = "mkdir -p $0/a $0/b $0/c && mount -t overlay x -o lowerdir=$0/a,upperdir=$0/b,workdir=$0/c $0/a"
    folder = tempfile.mkdtemp(prefix="dlcheck-layers-", dir="/var/tmp")
    process = subprocess.run(["unshare", "-Urm", "sh", "-c", script, folder], capture_output=True, check=False)
    subprocess.run(["rm", "-rf", folder], check=False)
    return process.returncode == 0

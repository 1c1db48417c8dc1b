"""Servers of warm processes: that which all tests of one run share, or one of this process.

    python servers.py start FILE   starts one that stays, and writes its process and its socket into FILE
    python servers.py stop FILE    ends it
"""

import atexit
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1]))
from tests.warm.client import ask  # noqa: E402

PATIENCE = 120  # seconds for torch to be imported
LONGEST = 300  # seconds of a program
# Read as torch or Python begins: other values of these need a start of their own.
EARLY = ("CUDA", "DLCHECK_DISABLE", "KMP", "LD_", "MKL", "OMP", "PYTHON", "TORCH")

OWN, STARTING = {}, threading.Lock()  # servers of this process, by their Python


class Server:
    """One that has torch once this is made; ends with this process, unless it `stays`."""

    def __init__(self, python, stays=False):
        folder = tempfile.mkdtemp(prefix="dlcheck-warm-")
        self.socket = os.path.join(folder, "socket")
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        environment.pop("DLCHECK_REQUEST", None)
        self.process = subprocess.Popen([python, "-W", "ignore", HERE / "server.py", self.socket], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL if stays else None,
                                        stderr=subprocess.DEVNULL if stays else None, start_new_session=stays)  # fmt: skip
        if not stays:
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            atexit.register(self.process.kill)
        end = time.monotonic() + PATIENCE
        while not os.path.exists(self.socket):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{python} has not become a server")
            time.sleep(0.02)

    def command(self, *words):
        """A command that stands for `python -W ignore WORDS`."""
        return command_for(self.socket, *words)


def command_for(socket, *words):
    return [sys.executable, "-S", "-E", str(HERE / "client.py"), socket, *map(str, words)]


def socket_of(python):
    """Of a server with this Python: that which CMake's tests share, else one of this process."""
    shared = pathlib.Path(os.environ.get("DLCHECK_WARM", ""))
    if shared.is_file():
        _, socket, used = shared.read_text().split("\n")
        if used == python:
            return socket
    with STARTING:
        if python not in OWN:
            OWN[python] = Server(python)
        return OWN[python].socket


def command(python, *words):
    return command_for(socket_of(python), *words)


def can_run(command, added, probed):
    """Whether a command is one that a fork can stand for; `added` is what its environment has beside ours,
    with PYTHONPATH for the probe alone."""
    head, words = command[:3], command[3:]
    is_program = len(words) > 1 and words[0] == "-c" or bool(words) and words[0].endswith(".py")
    others = [key for key in added if key.startswith(EARLY) and not (probed and key == "PYTHONPATH")]
    return head == [sys.executable, "-W", "ignore"] and is_program and not others


def run(command, environment, folder):
    """(status, output, errors) of such a command in a folder. Files take the output, which a child of the
    program may hold open for longer."""
    with contextlib.ExitStack() as stack:
        empty = stack.enter_context(open(os.devnull))
        out, err = (stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2))
        streams = [file.fileno() for file in (empty, out, err)]
        status = ask(socket_of(sys.executable), command[3:], environment, str(folder), streams, LONGEST)
        for file in (out, err):
            file.seek(0)
        return status, out.read(), err.read()


def start(file, python):
    server = Server(python, stays=True)
    pathlib.Path(file).write_text(f"{server.process.pid}\n{server.socket}\n{python}")


def stop(file):
    with contextlib.suppress(OSError, ValueError):
        process, socket, _ = pathlib.Path(file).read_text().split("\n")
        os.kill(int(process), signal.SIGTERM)
        shutil.rmtree(os.path.dirname(socket), ignore_errors=True)
    pathlib.Path(file).unlink(missing_ok=True)


if __name__ == "__main__":
    start(sys.argv[2], sys.executable) if sys.argv[1] == "start" else stop(sys.argv[2])

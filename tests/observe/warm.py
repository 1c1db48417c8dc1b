"""A process that has imported torch and forks for every program that is to be run: the import is most of
the time of a small program.

Run as a module, it reads a request a line (JSON: command, environment, folder, out, err, shim) and answers
with the exit status of the program, as subprocess has it. A program sees itself started as
`python -W ignore PROGRAM ...`, but for a torch that is there already.
"""

import atexit
import functools
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 300  # seconds of a program
# Read as torch or Python begins: other values of these need a start of their own.
EARLY = ("CUDA", "DLCHECK_DISABLE", "KMP", "LD_", "MKL", "OMP", "PYTHON", "TORCH")


def can_run(command, added, shim=None):
    """Whether a command is one that a fork can stand for; `added` is what its environment has beside ours,
    with PYTHONPATH for the probe alone."""
    head, words = command[:3], command[3:]
    is_program = len(words) > 1 and words[0] == "-c" or bool(words) and words[0].endswith(".py")
    others = [key for key in added if key.startswith(EARLY) and not (shim and key == "PYTHONPATH")]
    return head == [sys.executable, "-W", "ignore"] and is_program and not others


def run(command, environment, folder, shim=None):
    """(status, output, errors) of a command in a folder, under the probe that begins in the folder `shim`
    where one is given. Files take the output, which a child of the program may hold open for longer."""
    with tempfile.TemporaryDirectory() as streams:
        out, err = (pathlib.Path(streams, name) for name in ("out", "err"))
        request = {"command": command, "environment": environment, "folder": str(folder), "out": str(out),
                   "err": str(err), "shim": shim}  # fmt: skip
        server = started()
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        return int(server.stdout.readline()), out.read_text(), err.read_text()


@functools.lru_cache(maxsize=1)
def started():
    server = subprocess.Popen([sys.executable, "-W", "ignore", "-m", "tests.observe.warm"], cwd=ROOT, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})  # fmt: skip
    atexit.register(server.kill)
    return server


def serve():
    """Gives the request of a program in the child that is to run it; never returns in the parent."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            return json.loads(line)
        print(status_of(child), flush=True)
    sys.exit()


def status_of(child):
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, 9)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def become(request):
    """Makes this process one that was started for the program: environment, folder, streams, arguments."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, request["out"], write), (2, request["err"], write)):
        file = os.open(path, flags, 0o600)
        os.dup2(file, number)
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    words = request["command"][3:]
    sys.argv = words[1:] if words[0] == "-c" else words
    if words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        sys.path[0] = ""
        return words[1], "<string>"
    sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
    return pathlib.Path(words[0]).read_text(), words[0]


def reseed():
    """What is drawn where a process begins, and would be the same in all forks."""
    import random

    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()


def main_module(file):
    module = types.ModuleType("__main__")
    if file != "<string>":
        module.__file__ = file
    sys.modules["__main__"] = module
    return vars(module)


def watch(folder):
    """As boot/sitecustomize.py does in a process that begins."""
    sys.path.insert(1, folder)
    import importlib.util

    spec = importlib.util.spec_from_file_location("sitecustomize", os.path.join(folder, "sitecustomize.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    try:
        spec.loader.exec_module(module)
    except ImportError as error:  # there is no other one, as site knows, too
        if error.name != "sitecustomize":
            raise
        del sys.modules["sitecustomize"]


if __name__ == "__main__":
    import torch
    import torch._dynamo
    import torch.utils.data  # noqa: F401

    gc.collect()
    gc.freeze()
    given = serve()
    source, name = become(given)
    reseed()
    code = compile(source, name, "exec", dont_inherit=True)
    if given["shim"]:
        watch(given["shim"])
    exec(code, main_module(name))

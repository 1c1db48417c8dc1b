"""`with dlcheck.watch():`: watches a part of this process, and judges it as it ends."""

import contextlib
import json
import os
import subprocess
import sys
import threading

from . import binary, shim

# Stands for this process while `dlcheck run` waits for it: says which run it is, and ends as we do.
STAND_IN = (
    "import os, sys\n"
    "print(os.environ['DLCHECK_REQUEST'], flush=True)\n"
    "sys.exit(0 if sys.stdin.readline() == 'ended\\n' else 1)\n"
)


WATCHING = threading.Lock()  # held while a part of this process is watched


class FindingsError(Exception):
    """A watched part has findings at or above the severity that was asked for."""


class Watched:
    """What came of it, once the `with` has ended."""

    def __init__(self):
        self.result = None  # the content of result.json; None where another dlcheck watches
        self.exit_code = None  # of `dlcheck run`

    @property
    def findings(self):
        checks = self.result["checks"] if self.result else []
        return [dict(f, id=c["id"]) for c in checks for f in c["findings"]]


def log(name, value):
    """Records a number of the program's own under a name, for reports; where nothing is watched, does nothing.

    `value` is an int, a float, or a number of numpy or torch on the host.
    """
    probe = sys.modules.get("dlcheck_shim")
    for watching in getattr(probe, "WATCHING", ()):
        watching.metrics.log(name, value)


@contextlib.contextmanager
def watch(output_dir="dlcheck-out", fail_on="error", raises=False, options=()):
    """Watches what this thread trains until the `with` ends, and prints the report.

    `output_dir` is the output folder, `fail_on` the severity from which on a finding counts, `options` are
    more options of `dlcheck run`. With `raises`, findings that count raise FindingsError at the end.
    Inside a program or a part that is watched already, nothing is done: that run sees it all.
    """
    watched = Watched()
    outside = os.environ.get(shim.REQUEST) or os.environ.get("DLCHECK_DISABLE") == "1"
    if outside or not WATCHING.acquire(blocking=False):
        yield watched
        return
    try:
        yield from watch_part(watched, output_dir, fail_on, options)
    finally:
        WATCHING.release()
    if raises and watched.exit_code == 1:
        raise FindingsError(f"dlcheck: {len(watched.findings)} findings, in {output_dir}/result.json")


def watch_part(watched, output_dir, fail_on, options):
    """What `watch` does around its part: starts the supervisor, and hears what it found."""
    command = [binary.path(), "run", "--output-dir", os.fspath(output_dir), "--fail-on", fail_on, *options,
               "--", sys.executable, "-I", "-c", STAND_IN]  # fmt: skip
    supervisor = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    request = supervisor.stdout.readline().rstrip("\n")
    if not request:
        raise RuntimeError(f"dlcheck: the command ended with status {supervisor.wait()}")
    probe = shim.load(shim.boot_folder(request))
    probe.begin(shim.boot_folder(request))
    ended = False
    try:
        yield watched
        ended = True
    finally:
        probe.end()
        supervisor.communicate("ended\n" if ended else "raised\n")
        watched.exit_code = supervisor.returncode
        with contextlib.suppress(OSError, ValueError):
            with open(os.path.join(output_dir, "result.json"), encoding="utf-8") as file:
                watched.result = json.load(file)

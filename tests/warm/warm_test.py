"""A program that runs in a fork of a process with torch cannot tell, and ends as it would in a Python of its own."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
from tests.warm import servers  # noqa: E402

PYTHON = os.environ.get("DLCHECK_TORCH_PYTHON") or sys.executable
SHOWN = """
    import os, sys
    print(sys.argv[1:], os.path.basename(__file__), __name__, os.getcwd(), os.environ.get("A"), sys.path[0])
    print(sys.stdin.read(), file=sys.stderr)
    import beside
"""
ENDING = """
    import atexit, sys, threading, time
    class Shown:
        def __init__(self, name): self.name = name
        def __del__(self): print(NAMES[self.name])
    NAMES = {1: "b", 2: "a"}
    b, _a = Shown(1), Shown(2)
    atexit.register(print, "registered")
    threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
    sys.exit(5)
"""


class Warm(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dlcheck-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, text):
        path = self.folder / "program.py"
        path.write_text(textwrap.dedent(text))
        return path

    def run_both(self, text, *words, **environment):
        """What a Python of its own makes of a program, and what a fork does."""
        path = self.program(text)
        commands = [PYTHON, "-W", "ignore", path, *words], servers.command(PYTHON, path, *words)
        return [subprocess.run(list(map(str, command)), cwd=self.folder, input="given", capture_output=True, text=True,
                               env={**os.environ, "OMP_NUM_THREADS": "1", **environment}, timeout=100)
                for command in commands]  # fmt: skip

    def test_arguments_streams_folder_environment_and_modules_are_those_of_the_program(self):
        (self.folder / "beside.py").write_text("print('beside')\n")
        cold, warm = self.run_both(SHOWN, "one", "two", A="1")
        self.assertEqual(cold.returncode, 0, cold.stderr)
        self.assertEqual((warm.stdout, warm.stderr, warm.returncode), (cold.stdout, cold.stderr, 0))

    def test_status_signal_and_traceback_are_those_of_the_program(self):
        for text in ("raise SystemExit(7)", "1 / 0", "import os; os.kill(os.getpid(), 9)", "import os; os._exit(3)"):
            cold, warm = self.run_both(text)
            self.assertEqual(warm.returncode, cold.returncode, text)
            last = [run.stderr.strip().split("\n")[-1] for run in (cold, warm)]
            self.assertEqual(*last)

    def test_threads_registered_calls_and_globals_end_as_in_a_python_of_its_own(self):
        for run in self.run_both(ENDING):
            self.assertEqual((run.stdout, run.stderr, run.returncode), ("thread\nregistered\nb\na\n", "", 5))

    def test_output_that_cannot_be_written_gives_the_status_of_python(self):
        for run in self.run_both("import os; print('lost'); os.close(1)", PYTHONUNBUFFERED=""):
            self.assertEqual((run.stdout, run.returncode), ("", 120))

    def test_sitecustomize_runs_before_the_program(self):
        (self.folder / "sitecustomize.py").write_text("print('first')\n")
        for run in self.run_both("print('second')", PYTHONPATH=str(self.folder)):
            self.assertEqual(run.stdout, "first\nsecond\n")

    def test_random_numbers_differ_between_two_runs(self):
        path = self.program("import random, torch; print(random.random(), torch.initial_seed())")
        drawn = {subprocess.run(servers.command(PYTHON, path), capture_output=True, text=True).stdout for _ in range(2)}
        self.assertEqual(len(drawn), 2, drawn)

    def test_a_program_ends_with_the_one_who_asked(self):
        path = self.program("import os, time; print(os.getpid(), flush=True); time.sleep(100)")
        asking = subprocess.Popen(servers.command(PYTHON, path), stdout=subprocess.PIPE, text=True)
        child = int(asking.stdout.readline())
        asking.send_signal(signal.SIGKILL)
        asking.communicate()
        end = time.monotonic() + 20
        while pathlib.Path(f"/proc/{child}").exists() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertFalse(pathlib.Path(f"/proc/{child}").exists())


if __name__ == "__main__":
    unittest.main()

"""Runs of an ordinary user, whom the test makes, beside those of the superuser, with user namespaces and
without: the same verdict, nobody's files changed, and what is not private is said."""

import functools
import os
import pathlib
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

from leftovers import private_folders, processes_below
from support import BUILD, DLCHECK, SOURCE, TORCH_PYTHON, environment

sys.path.insert(0, str(SOURCE / "tests/programs"))
from watching import allows_layers  # noqa: E402

NAME = f"dlcheck-{os.getpid()}"
DEEP = ("--deep", "--select", "reproducibility/nondeterministic_training", "--select", "optimizer/stale_gradients")
WITHOUT_NAMESPACES = {"LD_PRELOAD": str(BUILD / "tests" / "libfailing_call.so"), "FAIL_IN": "dlcheck",
                      "FAIL_CALLS": "unshare", "FAIL_AT": "1", "FAIL_ALWAYS": "1"}  # fmt: skip

# Gradients are not cleared. A line a step is written by Python and by a process that it starts.
PROGRAM = """
import os, subprocess, torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for step in range(8):
    with open("python.txt", "a") as log:
        log.write(f"step {step}\\n")
    if step % 4 == 0:
        subprocess.run("echo step >>shell.txt", shell=True)
    torch.nn.functional.mse_loss(model(torch.ones(2, 4)), torch.ones(2, 1)).backward()
    optimizer.step()
"""


def make_user():
    """The number of a new user, who has no home and may not log in; None where none can be made."""
    if os.geteuid() != 0 or shutil.which("useradd") is None:
        return None
    made = subprocess.run(["useradd", "--no-create-home", "--shell", "/bin/false", NAME], capture_output=True)
    return pwd.getpwnam(NAME).pw_uid if made.returncode == 0 else None


@functools.cache
def python_of(user):
    """(a Python that this user can start, variables) with the torch that was linked; None: there is none."""
    if not TORCH_PYTHON:
        return None
    asked = subprocess.run([TORCH_PYTHON, "-c", "import torch; print(torch.__path__[0])"],
                           capture_output=True, text=True, env=environment())  # fmt: skip
    site = str(pathlib.Path(asked.stdout.strip()).parent)
    for python, variables in ((TORCH_PYTHON, {}), ("/usr/bin/python3", {"PYTHONPATH": site})):
        try:
            tried = subprocess.run([python, "-c", "import torch"], user=user, capture_output=True, cwd="/",
                                   env=environment(**variables))  # fmt: skip
        except OSError:
            continue  # in a folder that is not this user's to enter
        if tried.returncode == 0:
            return python, variables
    return None


class Runs:
    """Tests of whoever `user` is; None: who runs the tests."""

    user = None

    def setUp(self):
        self.python = python_of(self.user)
        if self.python is None:
            self.skipTest("this user can start no Python with torch")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dlcheck-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "train.py").write_text(PROGRAM)
        for path in (self.folder, self.folder / "train.py"):
            os.chown(path, self.user or os.geteuid(), -1)

    def watch(self, *options, **variables):
        python, path = self.python
        words = [DLCHECK, "run", *options, "--", python, "train.py"]
        process = subprocess.run(list(map(str, words)), cwd=self.folder, user=self.user, capture_output=True,
                                 text=True, env=environment(**path, **variables), timeout=300)  # fmt: skip
        self.printed = " ".join(process.stderr.split())
        return process.returncode

    def lines(self, name):
        return len((self.folder / name).read_text().splitlines())

    def assert_found(self, status):
        self.assertEqual(status, 1, self.printed)
        self.assertIn("optimizer/stale_gradients", self.printed)
        self.assertIn("train.py:11", self.printed)

    def assert_nothing_is_left(self, before):
        self.assertEqual(private_folders() - before, set())
        self.assertEqual(processes_below(self.folder), [])

    def test_a_plain_run_finds_the_fault_and_keeps_its_files_to_its_owner(self):
        self.assert_found(self.watch())
        self.assertEqual((self.lines("python.txt"), self.lines("shell.txt")), (8, 2))
        for path in (self.folder / "dlcheck-out", *(self.folder / "dlcheck-out").rglob("*")):
            status = path.stat()
            self.assertEqual(status.st_uid, self.user or os.geteuid(), path)
            self.assertEqual(status.st_mode & (stat.S_IRWXG | stat.S_IRWXO), 0, path)

    @unittest.skipUnless(allows_layers(), "this system lets no ordinary user mount an overlay")
    def test_experiments_write_to_copies_where_there_are_namespaces(self):
        before = private_folders()
        self.assert_found(self.watch(*DEEP))
        self.assertIn("Files that it writes are private copies. It reaches no network but loopback.", self.printed)
        self.assertEqual((self.lines("python.txt"), self.lines("shell.txt")), (8, 2))
        self.assert_nothing_is_left(before)

    def test_without_namespaces_what_is_not_private_is_said(self):
        before = private_folders()
        self.assert_found(self.watch(*DEEP, **WITHOUT_NAMESPACES))
        self.assertIn("Files that Python opens are private copies; others are the real ones. It reaches the "
                      "network, which cannot be cut off here.", self.printed)  # fmt: skip
        self.assertEqual(self.lines("python.txt"), 8)
        self.assertGreater(self.lines("shell.txt"), 2, "as was said: a process that it starts has the real files")
        self.assert_nothing_is_left(before)


class OfWhoRunsTheTests(Runs, unittest.TestCase):
    pass


class OfAnOrdinaryUser(Runs, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.user = make_user()
        if cls.user is None:
            raise unittest.SkipTest("only the superuser can make a user" if os.geteuid() else "useradd failed")
        cls.addClassCleanup(subprocess.run, ["userdel", NAME], capture_output=True)

    def test_an_output_folder_of_another_user_is_refused_by_name(self):
        (self.folder / "dlcheck-out").mkdir(mode=0o700)
        self.assertEqual(self.watch(), 2)
        self.assertIn("dlcheck-out", self.printed)
        self.assertIn("Permission denied", self.printed)
        self.assertFalse((self.folder / "python.txt").exists())


if __name__ == "__main__":
    unittest.main()

"""What end-to-end tests share: where the build is, and how to run dlcheck as a user would."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DLCHECK_BUILD", SOURCE / "build"))
DLCHECK = BUILD / "bin" / "dlcheck"
TRAINER = BUILD / "bin" / "dlcheck-train"
TORCH_PYTHON = os.environ.get("DLCHECK_TORCH_PYTHON", "")
sys.path += [str(SOURCE), str(SOURCE / "tests/programs")]
from drawing import drawn, drawn_tests, number_of_commit  # noqa: E402, F401
from watching import BY_TIME  # noqa: E402

PROGRAMS = SOURCE / "fixtures" / "programs"
DIGITS = SOURCE / "fixtures" / "data" / "digits.csv.gz"


def environment(**changes):
    """This process's environment without a request of its own and what GitHub sets, one thread, and what is given."""
    variables = {key: value for key, value in os.environ.items() if key not in ("DLCHECK_REQUEST", "GITHUB_ACTIONS")}
    return dict(variables, OMP_NUM_THREADS="1", **changes)


def is_sanitized():
    cache = BUILD / "CMakeCache.txt"
    return cache.exists() and "-fsanitize=" in cache.read_text()


# A sanitizer's own library has to be loaded first, and refuses another before it.
preloads = unittest.skipIf(is_sanitized(), "a sanitizer lets no library be preloaded")


class EndToEnd(unittest.TestCase):
    user = None  # number of the user that runs dlcheck; none: this one

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dlcheck-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.out = self.folder / "out"

    def dlcheck(self, *words, timeout=600, cwd=None, **variables):
        """Runs dlcheck; returns the finished process with text streams."""
        return subprocess.run([DLCHECK, *map(str, words)], capture_output=True, text=True,
                              timeout=timeout, cwd=cwd or self.folder, user=self.user,
                              env=environment(**variables))

    def run_command(self, *words, options=(), **keywords):
        """dlcheck run --output-dir OUT OPTIONS -- WORDS"""
        return self.dlcheck("run", "--output-dir", self.out, *options, "--", *words, **keywords)

    def result(self):
        return json.loads((self.out / "result.json").read_text())

    def check(self, identity):
        return next(check for check in self.result()["checks"] if check["id"] == identity)

    def found(self):
        """Checks with findings, without those that a busy machine gives."""
        return [check["id"] for check in self.result()["checks"]
                if check["outcome"] in ("failed", "internal_error") and check["id"] not in BY_TIME]

    def require_torch(self):
        if not TORCH_PYTHON:
            self.skipTest("no Python with torch was found when this was configured")

    def require_trainer(self):
        if not TRAINER.exists():
            self.skipTest("dlcheck-train was not built: no LibTorch was found")

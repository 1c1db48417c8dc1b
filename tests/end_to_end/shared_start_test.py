"""Experiments begin in one process that has imported torch as the program does it, unless that would show."""

import os
import pathlib
import subprocess
import textwrap
import unittest

from support import TORCH_PYTHON, EndToEnd, drawn_tests
from watching import allows_layers

# FIRST is what it does before it has torch.
PROGRAM = textwrap.dedent(
    """
    import os, sys, threading, time
    begun = time.monotonic_ns()
    FIRST
    import torch
    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    x = torch.randn(32, 4)
    open("made.txt", "a").write("x")
    own = os.getpgid(0) == os.getpid(), os.environ["PYTHONPATH"].split(":")[0], os.path.getsize("made.txt")
    print("begun", begun, *own, flush=True)
    for step in range(120):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(layer(x), x.argmax(1) % 2).backward()
        optimizer.step()
    """
)
SELECTED = "model/cross_sample_leak,reproducibility/nondeterministic_training"  # which need two experiments


def may_enter():
    """Whether this user may make mount namespaces without one of users, and layers of files in them."""
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0 and allows_layers()


@unittest.skipUnless(may_enter(), "this user may not enter the files of an experiment from outside")
@drawn_tests(3)
class SharedStart(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_torch()

    def outcomes(self, first, *before):
        """By check its outcome; and of each experiment the words that it printed as it began."""
        self.out = self.folder / f"out-{len(list(self.folder.iterdir()))}"
        (self.folder / "made.txt").unlink(missing_ok=True)
        program = self.folder / "program.py"
        program.write_text(PROGRAM.replace("FIRST", first))
        process = self.run_command(*before, TORCH_PYTHON, "-W", "ignore", program, options=["--deep", "--select", SELECTED])
        self.assertIn(process.returncode, (0, 1), process.stderr)
        self.assertNotIn("internal", process.stderr)
        outputs = {path.parent.name: path.read_text() for path in sorted(self.out.glob("runs/*/output"))}
        self.begun = {name: line.split() for name, text in outputs.items() for line in text.splitlines()
                      if line.startswith("begun")}  # fmt: skip
        self.outputs = outputs
        return {check["id"]: check["outcome"] for check in self.result()["checks"]}

    def test_experiments_begin_once_and_find_the_same_as_where_each_begins_anew(self):
        once = self.outcomes("pass")
        self.assertEqual(len({words[1] for words in self.begun.values()}), 1, self.outputs)
        self.assertGreater(len(self.begun), 1)
        # Each has its own group, the probe's folder of its own run, and files without what another one wrote.
        for name, words in self.begun.items():
            self.assertEqual((words[2], pathlib.Path(words[3]).parent.name, words[4]), ("True", name, "1"))
        self.assertFalse(list(self.out.glob("runs/*/start")))
        self.assertEqual(self.left(), [])
        anew = self.outcomes("threading.Thread(target=time.sleep, args=(60,), daemon=True).start()")
        self.assertEqual(len({words[1] for words in self.begun.values()}), len(self.begun))
        self.assertEqual(once, anew)

    def test_a_program_that_has_files_or_writes_them_before_it_has_torch_begins_anew(self):
        for first in ("kept = open(__file__)", "open('early.txt', 'w').write('x')", "os.closerange(3, 64)"):
            with self.subTest(first):
                self.outcomes(first)
                self.assertGreater(len(self.begun), 1)
                self.assertEqual(len({words[1] for words in self.begun.values()}), len(self.begun))

    def test_a_program_that_another_one_starts_begins_by_itself(self):
        self.outcomes("pass", "sh", "-c", '"$@"; true', "sh")
        self.assertGreater(len(self.begun), 1)
        self.assertEqual(len({words[1] for words in self.begun.values()}), len(self.begun))

    def left(self):
        """Processes of the program."""
        mark = str(self.folder / "program.py").encode()
        return [path.name for path in pathlib.Path("/proc").glob("[0-9]*") if mark in contents(path / "cmdline")]


def contents(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    unittest.main()

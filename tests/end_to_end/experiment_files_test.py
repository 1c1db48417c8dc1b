"""An experiment leaves the program's folder as it found it, whoever writes: Python, a native library or
another process."""

import os
import subprocess
import sys
import textwrap
import unittest

from support import DLCHECK, SOURCE, TORCH_PYTHON, EndToEnd

sys.path.append(str(SOURCE / "tests/programs"))
from watching import allows_layers  # noqa: E402

PROGRAM = textwrap.dedent(
    """
    import ctypes, os, subprocess, sys, torch
    torch.manual_seed(0)
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p

    def write_natively(path):
        file = ctypes.c_void_p(libc.fopen(path.encode(), b"a"))
        libc.fputs(b"native\\n", file)
        libc.fclose(file)

    print("trackers:", os.environ.get("WANDB_MODE"), os.environ.get("HF_HUB_OFFLINE"), flush=True)
    os.makedirs("made", exist_ok=True)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x = torch.randn(64, 4)
    for step in range(40):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
        optimizer.step()
        if step % 5 == 0:
            write_natively("log"), write_natively("made/log"), write_natively(sys.argv[1] + "/log")
            subprocess.run("echo a shell >> log; rm -f old; echo one > made/$$", shell=True)
            open("python", "a").write("python\\n")
    """
)


def copies():
    return {name for name in os.listdir("/var/tmp") if name.startswith("dlcheck-")}


def tree(*folders):
    """Every file below, with its content and mode."""
    return {path: (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
            for folder in folders for path in sorted(folder.rglob("*"))}  # fmt: skip


@unittest.skipUnless(allows_layers(), "this system lets no ordinary user mount an overlay")
class ExperimentFiles(EndToEnd):
    def run_deep(self):
        """The folders after a plain run, those after one with experiments, and what was printed."""
        trees = []
        for options in ((), ("--deep",)):
            home, other = (self.folder / f"{len(options)}" / name for name in ("home", "other"))
            for folder in (home, other):
                folder.mkdir(parents=True)
                (folder / "old").write_text("old")
                (folder / "log").write_text("before\n")
            (home / "train.py").write_text(PROGRAM)
            process = subprocess.run(
                [DLCHECK, "run", *options, "--output-dir", home / "out", "--", TORCH_PYTHON, "train.py", other],
                cwd=home, capture_output=True, text=True, check=False,
                env=dict(os.environ, WANDB_MODE="online"))  # fmt: skip
            self.assertIn("trackers: online None", process.stdout)
            self.assertIn(process.returncode, (0, 1), process.stderr)
            runs = sorted(path.name for path in (home / "out/runs").iterdir())
            said = [file.read_text() for file in (home / "out/runs").glob("*/output")]
            self.assertFalse([text for text in said if "trackers: online" in text])
            if options:
                self.assertTrue([text for text in said if "trackers: disabled 1" in text], said)
            subprocess.run(["rm", "-r", home / "out"], check=True)
            found = tree(home, other)
            root = home.parent
            trees.append({str(path.relative_to(root)): content for path, content in found.items()})
        return *trees, runs, process.stderr

    def test_all_that_experiments_write_is_gone_and_no_copy_stays(self):
        before = copies()
        plain, deep, runs, printed = self.run_deep()
        self.assertGreater(len(runs), 3, runs)
        shells = [name for name in plain if name.startswith("home/made/") and name[-1].isdigit()]
        self.assertEqual(len(shells), 8)
        # Names by process number differ from run to run; their number does not.
        self.assertEqual(len([n for n in deep if n.startswith("home/made/") and n[-1].isdigit()]), 8)
        for name in ("home/log", "home/made/log", "other/log", "home/python", "other/old"):
            self.assertEqual(deep[name], plain[name], name)
        self.assertNotIn("home/old", deep)
        self.assertEqual(len(deep), len(plain))
        self.assertIn("experiments wrote to copies, now removed, of", printed)
        self.assertEqual(copies(), before)


if __name__ == "__main__":
    unittest.main()

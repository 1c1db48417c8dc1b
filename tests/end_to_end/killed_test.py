"""kill -9 at any moment: of dlcheck, of the program, or of both, in plain runs and under experiments.
Afterwards nothing is left behind, the program's files are as without dlcheck, and what judges the records
says what they lack.

  killed_test.py --all [--seed N] [--moments N]    a hundred moments, with a table
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from leftovers import YOUTH, children_of, mounts_below, private_folders, processes_below
from support import DLCHECK, SOURCE, TORCH_PYTHON, environment, number_of_commit

RECORDING = SOURCE / "tests/end_to_end/recording.py"
STEPS = 30
DEEP = ("--deep", "--select", "reproducibility/nondeterministic_training", "--select", "program/failed")

MLP = f"""
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range({STEPS}):
    with open("log.txt", "a") as log:
        log.write(f"step {{step}}\\n")
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(2, (8,))).backward()
    optimizer.step()
"""
WHOLE = "".join(f"step {number}\n" for number in range(STEPS))


class Moment:
    """One run that is killed: what is killed, when, and what is found afterwards."""

    def __init__(self, options, uses_torch, victim, share):
        self.options, self.uses_torch, self.victim, self.share = options, uses_torch, victim, share
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dlcheck-test-"))
        self.out, self.work = self.folder / "out", self.folder / "work"
        self.work.mkdir()
        (self.folder / "train.py").write_text(MLP)
        self.wrong = []

    def __str__(self):
        kind = "torch" if self.uses_torch else "stand-in"
        return f"{'deep' if self.options else 'plain'} {kind}, {self.victim} at {self.share:.3f}"

    def start(self):
        program = [sys.executable, RECORDING, STEPS, "--healthy", "--pause", 0.01]
        if self.uses_torch:
            program = [TORCH_PYTHON, self.folder / "train.py"]
        command = [DLCHECK, "run", "--output-dir", self.out, *self.options, "--", *program]
        return subprocess.Popen(list(map(str, command)), cwd=self.work, env=environment(),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip

    def dlcheck(self, *words):
        command = list(map(str, [DLCHECK, *words]))
        return subprocess.run(command, cwd=self.work, capture_output=True, text=True, env=environment())

    def kill(self, process):
        programs = children_of(process.pid)
        victims = {"dlcheck": [process.pid], "program": programs, "both": [process.pid, *programs]}
        for number in victims[self.victim]:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has just ended
        return bool(victims[self.victim])

    def run(self, seconds):
        """Kills after a share of the time that a whole run takes, and looks at what is left."""
        process = self.start()
        time.sleep(seconds * self.share)
        self.was_hit = process.poll() is None and self.kill(process)
        process.wait(timeout=120)
        self.status = process.returncode
        self.wait_for_the_rest()
        self.look_at_files()
        self.look_at_the_verdict()
        return self.status

    def wait_for_the_rest(self):
        """Of a plain run the program goes on without dlcheck."""
        until = time.monotonic() + 60
        while left := processes_below(self.folder):
            if time.monotonic() > until:
                self.wrong.append(f"still there: {left}")
                return
            time.sleep(0.01)

    def look_at_files(self):
        files = {path.name for path in self.work.iterdir()} - {"log.txt"}
        if files:
            self.wrong.append(f"files of somebody else: {files}")
        log = self.work / "log.txt"
        self.trained = log.read_text() if log.exists() else ""
        # The program alone may be cut; after its end, nothing may touch its files.
        if not WHOLE.startswith(self.trained):
            self.wrong.append(f"its file is not what it wrote: {self.trained[-100:]!r}")
        if self.victim == "dlcheck" and self.trained not in ("", WHOLE):
            self.wrong.append("the program did not go on to its end")

    def is_cut(self):
        """Whether what there is to judge is less than a whole plain run."""
        ending = self.out / "runs/00-plain-0/ending"
        return self.trained != WHOLE or not ending.exists() or "finished" not in ending.read_text()

    def look_at_the_verdict(self):
        if (self.out / "result.json").exists():
            code = json.loads((self.out / "result.json").read_text())["exit"]["code"]
            if self.status >= 0 and code != self.status:
                self.wrong.append(f"status {self.status}, in the result {code}")
        if self.is_cut() and self.status == 0:
            self.wrong.append("a run that was cut is clean")
        for words in (["judge"], ["verify"]):
            process = self.dlcheck(*words, self.out)
            # The records of a program that was killed are as it left them.
            is_told = words == ["verify"] and self.status == 1
            if self.is_cut() and process.returncode == 0 and not is_told:
                self.wrong.append(f"{words[0]} of a run that was cut: 0\n{process.stdout}{process.stderr}")
            if process.returncode not in (0, 1, 2, 5) or not process.stdout + process.stderr:
                self.wrong.append(f"{words[0]}: status {process.returncode}")
            if words == ["judge"] and not self.is_cut() and process.returncode != 0:
                self.wrong.append(f"the whole plain run is not judged\n{process.stderr}")

    def run_again(self):
        """The next run in the same folder is as if nothing had been."""
        process = self.dlcheck("run", "--output-dir", self.out, "--", sys.executable, RECORDING, STEPS, "--healthy")
        if process.returncode != 0:
            self.wrong.append(f"the next run: status {process.returncode}\n{process.stderr}")
        if mounts_below(self.folder):
            self.wrong.append(f"mounts: {mounts_below(self.folder)}")
        shutil.rmtree(self.folder, ignore_errors=True)


class Killing:
    """Draws moments, and counts."""

    def __init__(self, seed):
        self.random, self.counts, self.wrong = random.Random(seed), collections.Counter(), []
        self.seconds = {}

    def seconds_of(self, options, uses_torch):
        if (options, uses_torch) not in self.seconds:
            moment = Moment(options, uses_torch, "dlcheck", 1)
            begin = time.monotonic()
            if moment.start().wait(timeout=120) != 0:
                raise AssertionError(f"{moment}: not clean without a kill")
            self.seconds[options, uses_torch] = time.monotonic() - begin
            shutil.rmtree(moment.folder)
        return self.seconds[options, uses_torch]

    def take(self, count):
        before = private_folders()
        for number in range(count):
            uses_torch = bool(TORCH_PYTHON) and number % 3 == 2
            options = (DEEP, ())[number // 3 % 2]
            seconds = self.seconds_of(options, uses_torch)
            victim = self.random.choice(("dlcheck", "program", "both"))
            moment = Moment(options, uses_torch, victim, self.random.uniform(0, 1))
            status = moment.run(seconds)
            moment.run_again()
            kind = str(moment).rsplit(" at ")[0] if moment.was_hit else "missed"
            self.counts[kind, status] += 1
            self.wrong += [f"{moment}: {wrong}" for wrong in moment.wrong]
        self.look_for_folders(before)

    def look_for_folders(self, before):
        """What killed runs left is removed by the next one, once it is not young any more."""
        time.sleep(YOUTH)
        moment = Moment((), False, "dlcheck", 1)
        moment.run_again()
        self.wrong += [*moment.wrong, *(f"{folder} is left" for folder in private_folders() - before)]

    def table(self):
        rows = [f"{count:5}  {kind:36} status {status}" for (kind, status), count in sorted(self.counts.items())]
        return "\n".join([*rows, f"{self.counts.total()} moments, {len(self.wrong)} complaints"])


class Killed(unittest.TestCase):
    def test_nothing_is_left_and_no_cut_run_is_clean(self):
        killing = Killing(number_of_commit())
        killing.take(6)
        print(killing.table())
        self.assertEqual("\n".join(killing.wrong), "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--moments", type=int, default=100)
    options = parser.parse_args()
    killing = Killing(options.seed)
    killing.take(options.moments)
    print(killing.table())
    print("\n".join(killing.wrong))
    return 1 if killing.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Every call into the system that dlcheck makes may fail: the program does not notice, and dlcheck reports
in full or says what it lost.

A clean run counts the calls; then each fails once, and those that take space fail from there on, as on a
full disk. The tests take a share of all that, drawn by the commit.

  failed_calls_test.py --all [--part K/N] [SCENARIO ...]    the whole, or a part of it, with a table
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from leftovers import YOUTH, private_folders, processes_below
from support import BUILD, DLCHECK, SOURCE, TORCH_PYTHON, drawn, environment, preloads

PRELOADED = BUILD / "tests" / "libfailing_call.so"
RECORDING = SOURCE / "tests/end_to_end/recording.py"
STREAM = BUILD / "tests" / "synthetic_stream"
UNCHANGED = BUILD / "tests" / "programs_cpp" / "unchanged_programs"
REAL = "/dev/shm"  # the same folder to experiments, too
STEPS = 30
# Of a full disk: these fail for ever, too.
TAKE_SPACE = ("write", "writev", "pwrite", "posix_fallocate", "mkdir", "mkdtemp", "rename")
# What a person must find in a sentence that says why something is missing.
CAUSE = re.compile("No space left|Input/output error|Too many open files|Cannot allocate memory|"
                   "Resource temporarily unavailable|Operation not permitted|No locks available|"
                   "Interrupted system call|No such file")  # fmt: skip

MLP = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    loss = torch.nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(2, (8,)))
    loss.backward()
    optimizer.step()
torch.save(model.state_dict(), "model.pt")
print(loss.item())
"""


class Scenario:
    """A command, in which process its calls fail, and what becomes of it."""

    share = 1  # of the cases that the tests take, one in so many
    fails_in, below = "dlcheck", ""  # name of the program; only files below this folder of the run

    def prepare(self, folder):
        """What stands in the folder before."""

    def command(self, folder):
        raise NotImplementedError

    def complaint(self, run):
        """The word for what became of it, and what was wrong, if anything was."""
        raise NotImplementedError

    @staticmethod
    def counts(path):
        """Whether a call on this file may fail."""
        return True

    def run(self, folder, at, call="", always=False):
        """One run with one failure; 0: none, and all calls are counted."""
        self.prepare(folder)
        with tempfile.NamedTemporaryFile("r", dir=REAL, prefix="failed-calls-") as log:
            plan = {"LD_PRELOAD": str(PRELOADED), "FAIL_IN": self.fails_in, "FAIL_AT": str(at),
                    "FAIL_UNDER": str(folder / self.below) if self.below else "",
                    "FAIL_LOG": log.name, "FAIL_CALLS": call}  # fmt: skip
            if always:
                plan["FAIL_ALWAYS"] = "1"
            process = subprocess.run(list(map(str, self.command(folder))), capture_output=True, text=True,
                                     cwd=folder / "work", env=environment(**plan), timeout=120)  # fmt: skip
            return Run(folder, process, log.read().splitlines())


class Run:
    """What is left of one run."""

    def __init__(self, folder, process, calls=()):
        self.folder, self.out = folder, folder / "out"
        self.status, self.stdout, self.stderr = process.returncode, process.stdout, process.stderr
        # Sentences are broken into lines of the terminal's width.
        self.words = " ".join(self.stderr.split())
        self.calls = [line.split(" ", 2)[1:] for line in calls]
        self.files = {path.name: path.read_bytes() for path in folder.glob("work/*")}

    def result(self):
        """The parsed result; none where there is none. Raises ValueError."""
        path = self.out / "result.json"
        return json.loads(path.read_text()) if path.exists() else None

    def litter(self):
        """What ought to be gone."""
        beside = [str(path) for path in self.folder.rglob("*.new")]
        return beside + processes_below(self.folder)


class Watched(Scenario):
    """`dlcheck run` on the program that writes its own records: the NaN of the last step is a finding."""

    status, options = 0, ("--fail-on", "warning")

    def program(self, folder):
        return [sys.executable, RECORDING, STEPS, "--status", self.status]

    def command(self, folder):
        return [DLCHECK, "run", "--output-dir", folder / "out", *self.options, "--", *self.program(folder)]

    def bare(self):
        if not hasattr(self, "known"):
            with Place() as folder:
                self.prepare(folder)
                process = subprocess.run(list(map(str, self.program(folder))), capture_output=True, text=True,
                                         cwd=folder / "work", env=environment())  # fmt: skip
                self.known = Run(folder, process)
        return self.known

    def complaint(self, run):
        bare = self.bare()
        if run.stdout == "" and run.files == {} and run.status == 2 and CAUSE.search(run.words):
            return "refused before the start", ""
        if (run.stdout, run.files) != (bare.stdout, bare.files):
            return "changed", f"the program's output or files are not as bare: {run.stdout!r}"
        if bare.stderr and run.stderr.count(bare.stderr) != 1:
            return "changed", "the program's own errors are not as bare"
        return self.verdict(run)

    def verdict(self, run):
        result = run.result()
        if result and result["exit"]["code"] != run.status:
            return "wrong status", f"{run.status}, in the result {result['exit']['code']}"
        if run.status == 1:
            return ("reported", "") if self.is_found(run) else ("wrong", "the finding is another one")
        if run.status in (2, 5) and CAUSE.search(run.words):
            return "said", ""
        return "lost", f"status {run.status} without the cause"

    def is_found(self, run):
        return "warning numerics/nonfinite_values" in run.words and f"step {STEPS - 1}" in run.words


class Launcher(Watched):
    share = 3


class Deep(Watched):
    """With an experiment, and so with private files, namespaces and a second start."""

    share = 20
    options = (*Watched.options, "--deep", "--select", "reproducibility/nondeterministic_training", "--select",
               "numerics/nonfinite_values")  # fmt: skip


class Subject(Watched):
    """The status is the program's, whatever becomes of the report."""

    share = 8
    status, options = 7, ("--exit-code", "program")

    def verdict(self, run):
        return ("the program's status", "") if run.status == 7 else ("changed", f"status {run.status}")


class PythonWriter(Watched):
    """The shim's writer, in the program's process."""

    share = 3
    fails_in, below = "python3", "out/runs"

    @staticmethod
    def counts(path):
        """The interpreter itself reads what is on PYTHONPATH, and ends where it cannot."""
        return "/boot" not in path

    def program(self, folder):
        return ["python3", *super().program(folder)[1:]]


class Torch(PythonWriter):
    """The whole shim, in a program with torch that never clears its gradients."""

    share = 50

    def prepare(self, folder):
        (folder / "train.py").write_text(MLP)

    def program(self, folder):
        return [TORCH_PYTHON, folder / "train.py"]

    def is_found(self, run):
        return "error optimizer/stale_gradients" in run.words


class Preloaded(Watched):
    """The preloaded probe, in a C++ program that never clears its gradients."""

    share = 20
    fails_in, below = "unchanged_programs", "out/runs"

    def program(self, folder):
        return [UNCHANGED, "autoencoder", "not_zeroed"]

    def is_found(self, run):
        return "error optimizer/stale_gradients" in run.words


class NativeWriter(Watched):
    """The writer of C++ programs."""

    share = 3
    fails_in, below = "synthetic_stream", "out/runs"
    steps = 600

    def program(self, folder):
        return [STREAM, folder / "out/runs/00-plain-0", self.steps, "clean"]

    def bare(self):
        """It says nothing, and writes into the run folder alone."""
        return Run(pathlib.Path("none"), subprocess.CompletedProcess((), 0, "", ""))

    def verdict(self, run):
        result = run.result()
        if run.status == 0:
            is_whole = result and result["coverage"]["steps"] == self.steps
            return ("reported", "") if is_whole else ("lost", "clean, of fewer steps than there were")
        return super().verdict(run)

    def is_found(self, run):
        """The writer could not be made, and this program ends for that."""
        return "program/failed" in run.words and CAUSE.search(run.words)


class Recorded(Scenario):
    """What reads an output folder of before."""

    share = 2
    words = ()

    def prepare(self, folder):
        if not hasattr(Recorded, "folder"):
            Recorded.folder = pathlib.Path(tempfile.mkdtemp(prefix="dlcheck-test-"))
            command = [DLCHECK, "run", "--output-dir", "out", "--", sys.executable, RECORDING, STEPS]
            subprocess.run(list(map(str, command)), cwd=Recorded.folder, capture_output=True, env=environment())
        shutil.copytree(Recorded.folder / "out", folder / "out")

    def command(self, folder):
        return [DLCHECK, *self.words, folder / "out"]

    def clean(self):
        if not hasattr(self, "known"):
            with Place() as folder:
                self.known = self.run(folder, -1)
        return self.known

    def complaint(self, run):
        clean = self.clean()
        if (run.status, run.stdout) == (clean.status, clean.stdout) and self.has_same_text(run, clean):
            return "reported", ""
        if run.status in (2, 5) and CAUSE.search(run.words + run.stdout):
            return "said", ""
        return "lost", f"status {run.status} without the cause"

    @staticmethod
    def has_same_text(run, clean):
        return run.stderr.replace(str(run.folder), "") == clean.stderr.replace(str(clean.folder), "")


class Judge(Recorded):
    words = ("judge", "--fail-on", "warning")

    def has_same_text(self, run, clean):
        return "warning numerics/nonfinite_values" in run.words


class JudgeToFiles(Judge):
    def command(self, folder):
        outputs = ["--report", f"json={folder}/copy.json", "--report", f"junit={folder}/junit.xml",
                   "--write-baseline", folder / "baseline.json"]  # fmt: skip
        return [*super().command(folder), *outputs]

    def complaint(self, run):
        word, wrong = super().complaint(run)
        for path in (run.folder / "copy.json", run.folder / "baseline.json"):
            if path.exists():
                json.loads(path.read_text())
            elif word == "reported":
                return "lost", f"{path.name} is not there, and nobody said so"
        return word, wrong


class Verify(Recorded):
    words = ("verify",)


class Report(Recorded):
    words = ("report",)


class Baseline(Recorded):
    words = ("accept",)


class Place:
    """A folder of one run, with the program's working folder in it."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dlcheck-test-"))
        (self.folder / "work").mkdir()
        return self.folder

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)


SCENARIOS = {kind.__name__: kind for kind in (Launcher, Subject, Deep, PythonWriter, NativeWriter, Torch, Preloaded,
                                              Judge, JudgeToFiles, Verify, Report, Baseline)}  # fmt: skip
# Those that need a program with torch, and whether it is there.
NEEDED = {"Torch": bool(TORCH_PYTHON), "Preloaded": UNCHANGED.exists()}


def calls_of(scenario, *plan):
    """What a run without a failure calls: (call, path) each."""
    with Place() as folder:
        run = scenario.run(folder, 0, *plan)
        word, wrong = scenario.complaint(run)
    if word not in ("reported", "the program's status"):
        raise AssertionError(f"without a failure: {word}: {wrong}\n{run.stderr}")
    return enumerate(run.calls, 1)


def cases_of(scenario):
    """(number, names of the calls that are counted, whether it goes on) for every failure."""
    space = " ".join(TAKE_SPACE)
    once = [(number, "", False) for number, (_, path) in calls_of(scenario) if scenario.counts(path)]
    full = [(number, space, True) for number, (_, path) in calls_of(scenario, space, True) if scenario.counts(path)]
    return once + full


def outcome_of(scenario, case):
    """(call that failed, word, what was wrong)"""
    number, calls, always = case
    with Place() as folder:
        run = scenario.run(folder, number, calls, always)
        call = " ".join(run.calls[0]).replace(str(folder), "") if run.calls else "-"
        try:
            word, wrong = scenario.complaint(run)
        except ValueError as error:
            word, wrong = "damaged", f"a result is no JSON: {error}"
        litter = run.litter()
        if litter and not wrong:
            word, wrong = "litter", ", ".join(litter)
        if wrong:
            wrong += f"\n{run.stdout}{run.stderr}"
        return call + (" and all after it" if always else ""), word, wrong


def left_by_the_next_run(folders):
    """Those of these private folders that a later run does not remove: where a call failed that removes one,
    it waits for that."""
    if folders:
        time.sleep(YOUTH)
        with Place() as folder:
            Launcher().run(folder, 0)
    return folders & private_folders()


class Sweep:
    """Runs the cases of scenarios, and counts."""

    def __init__(self):
        self.counts, self.complaints, self.runs = collections.Counter(), [], 0

    def take(self, name, choose):
        scenario = SCENARIOS[name]()
        before = private_folders()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            chosen = choose(cases_of(scenario), scenario)
            for case, (call, word, wrong) in zip(
                chosen, pool.map(lambda case: outcome_of(scenario, case), chosen)
            ):
                self.runs += 1
                self.counts[name, call.split()[0], word] += 1
                if wrong:
                    self.complaints.append(f"{name} {case[0]}: {call}: {word}: {wrong}")
        for folder in left_by_the_next_run(private_folders() - before):
            self.complaints.append(f"{name}: {folder} is left")

    def table(self):
        rows = [f"{count:5}  {name:13} {call:16} {word}" for (name, call, word), count in
                sorted(self.counts.items())]  # fmt: skip
        return "\n".join([*rows, f"{self.runs} runs, {len(self.complaints)} complaints"])


@preloads
class FailedCalls(unittest.TestCase):
    def test_each_call_may_fail_and_nothing_is_lost_without_a_word(self):
        sweep = Sweep()
        for name in SCENARIOS:
            if NEEDED.get(name, True):
                sweep.take(name, lambda cases, scenario: drawn(cases, scenario.share))
        print(sweep.table())
        self.assertEqual("\n".join(sweep.complaints), "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", required=True)
    parser.add_argument("--part", default="1/1", help="K/N: every N-th case, from the K-th")
    parser.add_argument("scenarios", nargs="*", default=list(SCENARIOS))
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    sweep = Sweep()
    for name in options.scenarios or SCENARIOS:
        sweep.take(name, lambda cases, _: cases[part - 1 :: parts])
    print(sweep.table())
    print("\n".join(sweep.complaints))
    return 1 if sweep.complaints else 0


if __name__ == "__main__":
    sys.exit(main())

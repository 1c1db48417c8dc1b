"""Runs healthy programs under `dlcheck run` and says what it found on them: nothing, it is hoped.

Usage: check_healthy.py [--seeds N] [--harmless] [--deep] [--draw] [--notes] [--variant V] [--into FILE] [--jobs N]
                        [NAME ...]

Exits 1 if a program has an error or a warning, if something of dlcheck's own failed, or if the
program did not end with status 0. With --harmless each program also runs with digests of its weights,
optimizer and random state on its standard output, watched and unwatched: output and status must be equal. With
--notes, notes are printed too, and count for nothing. With --variant, the programs are changed first (variants.py).
With --into, each run gives a line of JSON: its steps, and the verdict of each check that had one.
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from drawing import drawn
from variants import VARIANTS, file_in_variant
from watching import DLCHECK, FOLDER, PYTHON, SOURCE, environment, python

HARNESS = SOURCE / "tests/observe/state_harness.py"
SEVERITIES = ("error", "warning", "note")
# What dlcheck writes when a part of its own did not work.
BROKEN = re.compile(r"own hook|recording .*not complete|internal error", re.IGNORECASE)


def findings(result, notes=False):
    """'severity check' of each finding that is no note, or of all notes."""
    return [
        f"{finding['severity']} {check['id']}"
        for check in result["checks"]
        for finding in check.get("findings", [])
        if (finding["severity"] == "note") == notes
    ]


def verdicts(result):
    """The outcome of each check that had one: "passed", or the worst severity of its findings."""
    return {check["id"]: min((finding["severity"] for finding in check["findings"]), key=SEVERITIES.index)
            if check["findings"] else "passed"
            for check in result["checks"] if check["outcome"] in ("passed", "failed")}  # fmt: skip


def watch(name, seed, harmless, options=(), variant=None, into=None):
    """(name, seed, seconds, problems, notes) of one program; `options` are those of `dlcheck run`."""
    with tempfile.TemporaryDirectory(prefix="dlcheck-healthy-") as folder:
        start = [PYTHON] if options else python()  # experiments need a Python of their own
        words = [file_in_variant(name, variant, folder), str(seed)]
        begin = time.monotonic()
        problems, result = judged([*start, *words], folder, options)
        seconds = time.monotonic() - begin
        if harmless:
            problems += differences([*start, HARNESS, *words], folder)
        if into and result:
            line = {"program": name, "seed": seed, "steps": result["coverage"]["steps"], "verdicts": verdicts(result),
                    "problems": problems}  # fmt: skip
            with into.open("a") as file:
                file.write(json.dumps(line) + "\n")
    return name, seed, seconds, problems, findings(result, notes=True) if result else []


def judged(words, folder, options=()):
    """(problems, result) of a healthy program: what dlcheck should not have said of it, and all it said."""
    watched = execute([DLCHECK, "run", "--output-dir", f"{folder}/out", "--exit-code", "program", *options,
                       "--", *words], folder)  # fmt: skip
    problems = []
    if watched.returncode != 0:
        problems.append(f"status {watched.returncode}: {watched.stderr[-500:]}")
    if match := BROKEN.search(watched.stderr):
        line = watched.stderr[watched.stderr.rfind("\n", 0, match.start()) + 1 :]
        problems.append("dlcheck: " + line.split("\n")[0].strip())
    file = pathlib.Path(folder, "out", "result.json")
    if not file.exists():
        return [*problems, "no result"], None
    result = json.loads(file.read_text())
    return problems + findings(result), result


def differences(words, folder):
    """What watching changes of a program whose state is shown step by step."""
    alone = execute(words, folder)
    watched = execute([DLCHECK, "run", "--output-dir", f"{folder}/out", "--exit-code", "program", "--",
                       *words], folder)  # fmt: skip
    if (alone.stdout, alone.returncode) == (watched.stdout, watched.returncode):
        return []
    pairs = zip(alone.stdout.splitlines(), watched.stdout.splitlines())
    first = next((line for line, other in pairs if line != other), "its end")
    return [f"output, state or status differs from an unwatched run at: {first[:60]}"]


def execute(words, folder):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=900,
                          cwd=folder, env=environment())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--harmless", action="store_true")
    parser.add_argument("--draw", action="store_true", help="a share, drawn by the commit")
    parser.add_argument("--notes", action="store_true", help="print notes, too")
    parser.add_argument("--deep", action="store_true", help="with every experiment")
    parser.add_argument("--variant", choices=VARIANTS)
    parser.add_argument("--into", type=pathlib.Path, help="a line of JSON for each run")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names = options.names or sorted(path.stem for path in (FOLDER / "healthy").glob("*.py"))
    if options.draw:
        names = drawn(sorted(names), 20)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(watch, name, seed, options.harmless, ["--deep"] * options.deep, options.variant, options.into)
                for name in names for seed in range(options.seeds)]
        for run in runs:
            name, seed, seconds, problems, notes = run.result()
            bad += bool(problems)
            said = problems + notes * options.notes
            print(f"{name:24} seed {seed} {seconds:6.1f} s  {'; '.join(said) or '-'}", flush=True)
    print(f"{len(runs)} runs, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

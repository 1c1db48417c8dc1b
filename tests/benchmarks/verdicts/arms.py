"""What gives the verdicts: the checks written by hand, and dlcheck; each arm in a process of its own.

A fault is found by hand if any of the checks fails, whatever it says; by dlcheck only if a check that
names the fault fails. On a healthy program an alarm is any failure by hand, any error or warning, and any
note of a check that names one of the faults.
"""

import dataclasses
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

from watching import DLCHECK, PYTHON, SOURCE, environment

FOLDER = pathlib.Path(__file__).resolve().parent
SEVERITIES = ("error", "warning", "note")


@dataclasses.dataclass(frozen=True)
class Verdict:
    found: bool
    stern: bool  # by more than a note, so that CI fails
    shown: str
    seconds: float


def by_hand(program):
    command = [PYTHON, "-W", "ignore", FOLDER / "run_functions.py", FOLDER / "by_hand.py"]
    with prepared(program) as folder:
        process, seconds = timed(command, folder, {0})
    failed = [name.removeprefix("test_").replace("_", " ") for name in process.stdout.split()]
    return Verdict(bool(failed), bool(failed), "; ".join(failed) or "-", seconds)


def dlcheck(program, options, named):
    """`named` are the checks that name any of the faults."""
    with prepared(program) as folder:
        command = [DLCHECK, "run", "--output-dir", f"{folder}/out", *options, "--", PYTHON, "-W", "ignore",
                   "digits_mlp.py"]  # fmt: skip
        _, seconds = timed(command, folder, {0, 1})
        result = json.loads(pathlib.Path(folder, "out/result.json").read_text())
    found = findings(result)
    counted = [finding for finding in found if counts(finding, program.checks or named, program)]
    shown = " ".join(counted[0]) if counted else "-"
    if found and not counted:
        shown = f"- ({' '.join(found[0])})"
    stern = any(finding[0] != "note" for finding in counted)
    return Verdict(bool(counted), stern, shown, seconds)


def prepared(program):
    """A folder that is removed at the end of its block, with the program and its data."""
    folder = tempfile.TemporaryDirectory(prefix="dlcheck-verdicts-")
    pathlib.Path(folder.name, "digits_mlp.py").write_text(program.source())
    shutil.copy(SOURCE / "fixtures/data/digits.csv.gz", folder.name)
    return folder


def timed(command, folder, statuses):
    start = time.monotonic()
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder,
                             env=environment(), check=False)  # fmt: skip
    if process.returncode not in statuses:
        raise RuntimeError(f"{command}: status {process.returncode}: {process.stderr}")
    return process, time.monotonic() - start


def findings(result):
    """Severity, check and place (a line of the source, else a thing) of each finding, worst first."""
    checks = {check["id"]: check["findings"] for check in result["checks"]}
    causes = [cause["id"] for cause in result["order"]]
    found = []
    for check in causes + [check for check in checks if check not in causes]:
        for finding in checks[check]:
            lines = [f"{pathlib.Path(place['file']).name}:{place['line']}"
                     for place in finding["places"] if "file" in place]
            things = [place["thing"] for place in finding["places"] if "thing" in place]
            found.append((finding["severity"], check, *(lines + things)[:1]))
    return sorted(found, key=lambda finding: SEVERITIES.index(finding[0]))


def counts(finding, checks, program):
    """Whether a finding names the program's fault, or is an alarm where there is none."""
    severity, check, *_ = finding
    return check in checks or (not program.checks and severity != "note")

"""Plants faults in the hosts, gives the hosts' own names new spellings, and sees what dlcheck says.

Usage: check_faults.py [--host H] [--fault F] [--draw | --once] [--seeds N] [--variant V] [--into FILE] [--jobs N]

A fault is caught if the check that it must be caught by has findings, no other check has an error
that the claimed one does not explain, and a claimed error comes first in the report. Where its line was named before
(lines_of_causes.txt), it must be named again. That a broken program misses the score that it asserts is a
symptom: program/failed is left out of all of this.
"""

import argparse
import concurrent.futures
import functools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import zlib

from drawing import drawn
from lines_of_causes import known, names_the_line
from plants import FAULTS, planted
from rank_pool import PROCESSES
from renaming import renamed
from variants import VARIANTS, in_variant
from watching import BY_TIME, DLCHECK, FOLDER, PYTHON, allows_layers, environment, python

# The experiment that goes on from files of its own.
NEEDS_LAYERS = "checkpoint/inexact_resume"
SEVERITIES = ("error", "warning", "note")


@functools.cache
def explained(check):
    """All checks whose findings a finding of `check` explains, directly or through others."""
    text = subprocess.run([DLCHECK, "explain", check], capture_output=True, text=True,
                          check=True).stdout
    found = re.search(r"^Explains ((?:.|\n {2,})*)", text, re.MULTILINE)
    direct = re.split(r"[,\s]+", found[1].strip()) if found else []
    return set(direct).union(*(explained(other) for other in direct))


def problem(result, claim):
    """What is wrong with the verdict on a program with a fault that `claim` is to find, or None."""
    worst = {}
    for check in result["checks"]:
        severities = [finding["severity"] for finding in check["findings"]]
        for severity in SEVERITIES:
            if severity in severities:
                worst.setdefault(check["id"], severity)
    aside = {"program/failed"} - {claim}
    order = [cause["id"] for cause in result["order"] if cause["id"] not in aside]
    if claim not in worst:
        return "missed; found: " + (", ".join(order) or "nothing")
    errors = [check for check, severity in worst.items()
              if severity == "error" and check not in explained(claim) | aside | {claim}]
    # A check that explains the claim has seen the same fault by other means.
    causes = {check for check in errors if claim in explained(check)}
    alarms = set(errors) - causes
    if alarms:
        return "also an error: " + ", ".join(sorted(alarms))
    if worst[claim] == "error" and order[0] not in causes | {claim}:
        return f"not first: {order[0]} is"
    return None


def beside_its_host(fault):
    """The environment of a program that imports what lies beside its host."""
    return dict(environment(), PYTHONPATH=str(FOLDER / FAULTS[fault].folder))


def run(fault, host):
    """None if the fault in the host is caught, else why it is not."""
    return watched(fault, host)[0]


def watched(fault, host, seed=0, variant=None):
    """(None if the fault in the host is caught, else why it is not; what the report says, for --into)."""
    source = planted(fault, host)
    if FAULTS[fault].folder == "hosts":  # frameworks call by the names of arguments
        source = renamed(source, zlib.crc32(f"{fault} {host}".encode()))
    source = in_variant(source, variant)
    with tempfile.TemporaryDirectory(prefix="dlcheck-fault-") as folder:
        program = pathlib.Path(folder, "program.py")
        program.write_text(source)
        words = [DLCHECK, "run", "--output-dir", f"{folder}/out", *FAULTS[fault].options,
                 "--", *started(fault, host), program, *[seed] * (seed > 0)]
        process = subprocess.run(list(map(str, words)), capture_output=True, text=True,
                                 timeout=300, cwd=folder, env=beside_its_host(fault))
        file = pathlib.Path(folder, "out", "result.json")
        if not file.exists():
            return "no result: " + process.stderr[-300:], {"causes": [], "lines": []}
        result = json.loads(file.read_text())
        report = said(result, FAULTS[fault].check, str(program), source)
        wrong = problem(result, FAULTS[fault].check)
        if wrong is None and variant is None and (fault, host) in known() and not names_the_line(fault, host, report):
            wrong = f"its line is not named: {report['lines']}"
        return wrong and f"{wrong}{failure(process.stderr)}", report


def said(result, claim, program, source):
    """The causes in the order of the report with their severities, and the source at the places of the claimed one."""
    severities = {check["id"]: sorted({f["severity"] for f in check["findings"]}, key=SEVERITIES.index)[0]
                  for check in result["checks"] if check["findings"]}  # fmt: skip
    lines = sorted({place["line"] for check in result["checks"] if check["id"] == claim
                    for finding in check["findings"] for place in finding["places"]
                    if place.get("line") and program.endswith(place.get("file", "?"))})  # fmt: skip
    return {"causes": [cause["id"] for cause in result["order"]], "severities": severities,
            "lines": [(line, source.split("\n")[line - 1].strip()) for line in lines]}  # fmt: skip


def has_seeds(host):
    """Whether a host takes a seed as its first argument; a few that go on from a file have one of their own."""
    files = (FOLDER / folder / f"{host}.py" for folder in ("hosts", "healthy"))
    return any(re.search(r"argv(\[1|\) > 1)|add_argument\(.seed", file.read_text()) for file in files if file.exists())


def processes_of(fault, host):
    """In how many processes a launcher is to start it."""
    return PROCESSES[host] if FAULTS[fault].folder == "ranks" else FAULTS[fault].processes


def started(fault, host):
    """The command before the name of its program: experiments, launchers and frameworks need a Python of their own."""
    processes = processes_of(fault, host)
    if processes == 1 and not FAULTS[fault].options and FAULTS[fault].folder in ("hosts", "healthy"):
        return python()
    return [PYTHON, "-W", "ignore", *launcher(processes)]


def launcher(processes):
    if processes == 1:
        return []
    return ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={processes}"]


def failure(text):
    """The last error that Python printed, so that a plant that does not run is known as one."""
    errors = re.findall(r"^(?!AssertionError)\w*(?:Error|Exception)\b.*$", text, re.MULTILINE)
    return f" [{errors[-1]}]" if errors else ""


def chosen(options):
    """(fault, host) of all that is to be run."""
    for number, (name, fault) in enumerate(FAULTS.items()):
        hosts = [host for host in fault.hosts if options.host in (None, host)]
        if options.fault in (None, name, fault.check) and hosts:
            yield from [(name, hosts[number % len(hosts)])] if options.draw or options.once else [
                (name, host) for host in hosts]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host")
    parser.add_argument("--fault", help="a fault's name, or the check that is to find it")
    parser.add_argument("--draw", action="store_true",
                        help="a share of the faults, drawn by the commit, each in one host")
    parser.add_argument("--once", action="store_true", help="each fault in one of its hosts")
    parser.add_argument("--seeds", type=int, default=1, help="each with this many seeds, where its host takes one")
    parser.add_argument("--variant", choices=VARIANTS, help="the programs are changed first, see variants.py")
    parser.add_argument("--into", type=pathlib.Path, help="a line of JSON for each, with what the report says")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    pairs = list(chosen(options))
    if options.draw:
        # They are looked for where all plants are, and alone.
        pairs = drawn([pair for pair in pairs if FAULTS[pair[0]].check not in BY_TIME], 15)
    if not allows_layers():
        resumed = [pair for pair in pairs if FAULTS[pair[0]].check == NEEDS_LAYERS]
        pairs = [pair for pair in pairs if pair not in resumed]
        print(f"{len(resumed)} plants need files of their own, which this system does not give: left out")
    runs = [(*pair, seed) for seed in range(options.seeds) for pair in pairs if seed == 0 or has_seeds(pair[1])]
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        reports = pool.map(lambda run: watched(*run, variant=options.variant), runs)
        for (fault, host, seed), (verdict, report) in zip(runs, reports):
            if verdict and options.draw:
                # Times and memory of a busy machine decide about a few: once more, and both are printed.
                print(f"{fault:28} {host:22} at first: {textwrap.shorten(verdict, 400)}", flush=True)
                verdict, report = watched(fault, host, seed, options.variant)
            if options.into:
                line = {"fault": fault, "host": host, "seed": seed, "check": FAULTS[fault].check, "wrong": verdict, **report}
                with options.into.open("a") as file:
                    file.write(json.dumps(line) + "\n")
            row = f"{fault:28} {host:22} {f'seed {seed}  ' if seed else ''}{verdict or 'caught'}"
            wrong += [textwrap.shorten(row, 400)] if verdict else []
            print(wrong[-1] if verdict else row, flush=True)
    print(f"{len(runs)} plants, {len(wrong)} not caught as claimed", *wrong, sep="\n")
    return 1 if wrong or not pairs else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Every fault in every program that has a place for it: which are named, which are noticed, which are missed.

    run_pairs.py [--fault F ...] [--in PROGRAM ...] [--part K/N] [--share N] [--into FILE] [--jobs N]

One line a pair goes to FILE (kept.py), and a pair that is there already is not run again. A pair counts if the
program with the fault runs to its end and ends in another state than without: a crash needs no tool, and
what changes nothing is no fault. No pair counts of a program that ends otherwise each time. Asserts of the
programs are left out, as most programs have none.
"""

import argparse
import ast
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT)]
import data  # noqa: E402, F401
import kept  # noqa: E402
import loop  # noqa: E402, F401
import losses  # noqa: E402, F401
import models  # noqa: E402, F401
import optimization  # noqa: E402, F401
import tree  # noqa: E402

from tests.warm.servers import Server  # noqa: E402

PYTHON = os.environ.get("DLCHECK_TORCH_PYTHON") or str(ROOT / ".venv/bin/python3")
DLCHECK = pathlib.Path(os.environ.get("DLCHECK_BUILD", ROOT / "build")) / "bin/dlcheck"
FOLDERS = ("tests/programs/healthy", "tests/programs/hosts")
SEVERITIES = ("note", "warning", "error")
LONGEST = 240  # seconds of a run


def programs():
    """By name, in an order without meaning: what a stopped run has done is a sample."""
    found = [path for folder in FOLDERS for path in (ROOT / folder).glob("*.py") if not path.stem.startswith("_")]
    return {path.stem: path for path in sorted(found, key=lambda path: kept.digest(path.stem))}


def finders():
    """By fault of docs/faults.md, the checks that cover it."""
    rows = re.findall(r"^\| `([a-z-]+)` \|.*\| (.*?) ?\|$", (ROOT / "docs/faults.md").read_text(), re.MULTILINE)
    return {name: set(re.findall(r"`([a-z_/]+)`", checks)) for name, checks in rows}


class NoAsserts(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()


def without_asserts(source):
    return ast.unparse(NoAsserts().visit(ast.parse(source))) + "\n"


def environment(path):
    variables = {key: value for key, value in os.environ.items() if key != "DLCHECK_REQUEST"}
    return dict(variables, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(path.parent))


def bare_end(server, source, path):
    """(how the program ended, a digest of its end), not watched."""
    with tempfile.TemporaryDirectory(prefix="dlcheck-pair-") as folder:
        return run_for_end(server.command(placed(folder, source, path)), folder, path)


def run_for_end(words, folder, path):
    target = pathlib.Path(folder, "digest")
    try:
        subprocess.run(list(map(str, words)), cwd=folder, timeout=LONGEST, capture_output=True, check=False,
                       env={**environment(path), "PLANTING_STATE": str(target)})  # fmt: skip
    except subprocess.TimeoutExpired:
        return "timeout", ""
    return tuple(target.read_text().split()) if target.exists() else ("killed", "")


def placed(folder, source, path):
    """The program as deep in a tree as it stands in ours: some look for data beside them."""
    home = pathlib.Path(folder, "tests/programs", path.parent.name)
    home.mkdir(parents=True)
    for name in ("fixtures",):
        if not pathlib.Path(folder, name).exists():
            pathlib.Path(folder, name).symlink_to(ROOT / name)
    program = home / path.name
    program.write_text(source)
    return program


def watched_end(server, source, path):
    """How the program ended and a digest of its end; by check, the worst severity found; and the check that the
    report names first."""
    with tempfile.TemporaryDirectory(prefix="dlcheck-pair-") as folder:
        program = placed(folder, source, path)
        words = [DLCHECK, "run", "--output-dir", f"{folder}/out", "--", *server.command(program)]
        end = run_for_end(words, folder, path)
        try:
            result = json.loads(pathlib.Path(folder, "out/result.json").read_text())
        except (OSError, ValueError) as error:
            return end, {"dlcheck": type(error).__name__}, ""
    found = {}
    for check in result["checks"]:
        worst = max((SEVERITIES.index(f["severity"]) for f in check["findings"]), default=-1)
        if worst >= 0:
            found[check["id"]] = SEVERITIES[worst]
    return end, found, next((cause["id"] for cause in result["order"]), "")


class Runner:
    def __init__(self, out, known):
        self.server = Server(PYTHON)
        self.out, self.known, self.covering = out, known, finders()

    def program(self, name, path, faults):
        """Lines for all pairs of one program."""
        source = without_asserts(path.read_text())
        healthy = None
        for fault in faults:
            made = tree.planted(fault, source)
            if made is None or self.is_known(name, fault, made):
                continue
            if healthy is None:
                healthy = watched_end(self.server, source, path)
                repeats = bare_end(self.server, source, path) == healthy[0]
            if not repeats:
                self.write(name, fault, made, "unrepeatable")
                continue
            self.pair(name, path, fault, made, healthy)

    def pair(self, name, path, fault, made, healthy):
        (ended, state), baseline, _ = healthy
        begin = time.monotonic()
        (now, planted_state), found, first = watched_end(self.server, made[0], path)
        if now != "whole" or ended != "whole":
            return self.write(name, fault, made, "crash", why=f"{ended} / {now}")
        if planted_state == state:
            return self.write(name, fault, made, "no effect")
        new = {check: severity for check, severity in found.items()
               if SEVERITIES.index(severity) > SEVERITIES.index(baseline.get(check, "note"))
               or check not in baseline} if "dlcheck" not in found else {}  # fmt: skip
        claimed = {c: s for c, s in new.items() if c in self.covering.get(tree.FAULTS[fault].covered, ())}
        loud = {c: s for c, s in new.items() if s != "note"}
        outcome = "named" if claimed else "noticed" if loud else "missed"
        self.write(name, fault, made, outcome, first=first, new=" ".join(f"{c}={s}" for c, s in sorted(new.items())),
                   why=found.get("dlcheck", ""), seconds=round(time.monotonic() - begin, 1))

    def is_known(self, name, fault, made):
        row = self.known.get((name, fault))
        return row is not None and row.planted == kept.planted_digest(made[0])

    def write(self, name, fault, made, outcome, **more):
        kept.append(self.out, kept.Row(name, fault, kept.planted_digest(made[0]), outcome, **more))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fault", nargs="*", default=[])
    parser.add_argument("--in", dest="programs", nargs="*", default=[])
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--share", type=int, default=1, help="one in so many pairs, by a digest of their names")
    parser.add_argument("--into", default=str(kept.FILE))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    chosen = {n: p for n, p in programs().items() if not options.programs or n in options.programs}
    faults = options.fault or list(tree.FAULTS)
    runner = Runner(options.into, kept.read(options.into))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, path in list(chosen.items())[part - 1 :: parts]:
            own = [f for f in faults if int(kept.digest(f"{f} {name}"), 16) % options.share == 0]
            pool.submit(runner.program, name, path, own)
    kept.tidy(options.into)


if __name__ == "__main__":
    sys.exit(main())

"""Runs programs under the shim or the probe in run folders of their own, and reads what they
recorded.

A reader of its own, so that these tests need nothing that is under test.
"""

import dataclasses
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from tests.warm import servers

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIM = ROOT / "checks/observe/python"
PROGRAMS = ROOT / "fixtures/programs"
DIGITS = ROOT / "fixtures/data/digits.csv.gz"
RECORD = struct.Struct("<HHHHQqIIIIddQ")
KINDS = {1: "event", 2: "quantity", 3: "gap"}


@dataclasses.dataclass
class Row:
    kind: str
    name: str
    step: int
    micro_step: int
    thing: tuple  # kind, ordinal, name
    site: tuple  # file, line, function
    owner: tuple
    value: float
    aux: float


class ProcessTrace:
    """What one process recorded."""

    def __init__(self, path):
        self.names = {"event": {}, "quantity": {}, "thing": {}, "site": {}}
        self.process, self.attributes = {}, {}
        for line in path.with_suffix(".names").read_text().splitlines():
            self.take(line.split("\t"))
        content = path.read_bytes()
        self.role = content[32:48].rstrip(b"\0").decode()
        rows = (RECORD.unpack_from(content, at) for at in range(64, len(content), 64))
        self.rows = [self.row(fields) for fields in rows if fields[0] in KINDS]

    def take(self, fields):
        if fields[0] == "attribute":
            thing = self.names["thing"].get(int(fields[1]))
            values = self.process if fields[1] == "0" else self.attributes.setdefault(thing, {})
            values[fields[2]] = fields[3]
        elif fields[0] in self.names:
            rest = fields[2] if len(fields) == 3 else tuple(fields[2:])
            self.names[fields[0]][int(fields[1])] = rest

    def row(self, fields):
        kind, _, number, _, _, step, micro_step, thing, site, owner, value, aux, _ = fields
        names = self.names["quantity" if kind == 2 else "event"]
        things = self.names["thing"]
        return Row(
            KINDS[kind], names[number], step, micro_step, things.get(thing),
            self.names["site"].get(site), things.get(owner), value, aux,
        )  # fmt: skip

    def of(self, kind, name):
        return [row for row in self.rows if row.kind == kind and row.name == name]


@dataclasses.dataclass
class Run:
    status: int
    out: str
    err: str
    traces: list  # of all processes, by file name
    samples: tuple = ()  # lines of the files that --samples asks for

    @property
    def main(self):
        return self.traces[0]


def run_watched(command, environment=None, raises=True, fresh=False, **request):
    """Runs a command under a request with the shim in its Python, in a `fresh` process or in one that has
    torch already; `request` are keys of the file."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        boot = folder / "boot"
        boot.mkdir()
        (boot / "sitecustomize.py").write_text((SHIM / "boot/sitecustomize.py").read_text())
        values = {"run_folder": folder, "shim": SHIM, **request}
        (boot / "request").write_text("".join(f"{k}\t{v}\n" for k, v in values.items()))
        added = {"PYTHONPATH": str(boot), "DLCHECK_REQUEST": str(boot / "request")}
        if raises:
            added["DLCHECK_SHIM_RAISE"] = "1"
        added.update(environment or {})
        done = run_unwatched(command, added, folder, fresh, probed=True)
        files = sorted(folder.glob("records/*.records"))
        samples = [line for file in folder.glob("samples-*") for line in file.read_text().splitlines()]
        return Run(done.status, done.out, done.err, [ProcessTrace(file) for file in files], tuple(samples))


def run_unwatched(command, environment=None, cwd=None, fresh=False, probed=False):
    """Runs a command; `probed`: its PYTHONPATH is where the probe begins, and no more."""
    command, added = [str(word) for word in command], environment or {}
    # One thread: these programs are small, and tests run side by side.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **added}
    if servers.can_run(command, added, probed) and not fresh:
        return Run(*servers.run(command, environment, cwd or os.getcwd()), [])
    done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=300,
                          check=False)  # fmt: skip
    return Run(done.returncode, done.stdout, done.stderr, [])


def python(*words):
    return [sys.executable, "-W", "ignore", *words]


def host(name):
    """The command of one of the small programs on the digits."""
    return python(PROGRAMS / f"digits_{name}.py", DIGITS)


def defined(file, writer):
    """Names of the rows of a .def file that `writer` (C or P) is said to write."""
    text = (ROOT / "checks/records" / file).read_text()
    rows = re.findall(r'^DLCHECK_\w+\((.*?)"\)$', text, re.MULTILINE | re.DOTALL)
    found = set()
    for row in rows:
        strings = re.findall(r'"((?:[^"\\]|\\.)*)', row)
        writers = next(s for s in strings[1:] if re.fullmatch("[CPTLN]+", s))
        if writer in writers:
            found.add(strings[0])
    return found

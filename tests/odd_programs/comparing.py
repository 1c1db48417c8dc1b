"""Runs an odd program bare and watched, each in a fresh folder of the same name, and says what differs."""

import dataclasses
import hashlib
import os
import pathlib
import pty
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
import typing

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCE = FOLDER.parents[1]
sys.path.append(str(SOURCE / "tests/programs"))

from watching import DLCHECK, PYTHON, environment  # noqa: E402

LONGEST = 150  # seconds
WRITTEN = 1_000_000_000  # when the files of a program were, in seconds
# Where dlcheck's own report begins: it is printed once the program has ended.
REPORT = re.compile(r"dlcheck(:|  ).*", re.DOTALL)
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")  # of an object: nothing of the program's


@dataclasses.dataclass(frozen=True)
class Allowed:
    """A difference that is inherent: the watched run says `watched` where the bare one says `bare`. Of the
    text, {out} is the output folder. Refused where the watched run does not say it."""

    where: str  # stdout, stderr, or the name of a file
    watched: str
    bare: str
    why: str


@dataclasses.dataclass(frozen=True)
class Program:
    source: str
    command: tuple = ("{python}", "program.py")
    files: dict = dataclasses.field(default_factory=dict)  # beside the program: name -> text
    variables: dict = dataclasses.field(default_factory=dict)
    stdin: str = ""
    prepare: typing.Callable | None = None  # called in the process that starts it
    stdout: str = ""  # what to put in the place of a pipe: a path, "closed pipe" or "terminal"
    folder: bytes = b"work"
    trains: bool = True  # and is watched: records of it are there
    closes: bool = False  # descriptors that are not its own: runs in every test
    allowed: tuple = ()
    lacking: typing.Callable = lambda: ""  # what this machine lacks for it


@dataclasses.dataclass
class Outcome:
    status: int
    stdout: str
    stderr: str
    files: dict  # by path: kind, mode and digest of the content


def program_of(entry):
    """An entry of a table: a Program, or the source of one that is run as usual."""
    return Program(entry) if isinstance(entry, str) else entry


def compare(entry, watches=True):
    """(skipped, differences): why it cannot run here, and a line for each thing that watching changes; where
    it does not watch, for each that differs between two bare runs."""
    program = program_of(entry)
    lacking = program.lacking()
    if lacking:
        return lacking, []
    with tempfile.TemporaryDirectory(prefix="dlcheck-odd-", ignore_cleanup_errors=True) as name:
        place = pathlib.Path(name)
        place.chmod(0o755)
        bare = run(program, place, [])
        if not watches:
            return "", differences(bare, run(program, place, []))
        out = place / "out"
        watched = run(program, place, [DLCHECK, "run", "--output-dir", out, "--no-live", "--exit-code", "program", "--"])
        problems = allow(program, watched, out)
        problems += differences(bare, watched)
        if program.trains and not any(out.glob("runs/*/records/*.records")):
            problems.append("nothing of it was recorded")
        return "", problems


def run(program, place, before):
    """What came of the program in a fresh folder; `before` stands before its command."""
    folder = prepared(program, place)
    words = [PYTHON if word == "{python}" else word for word in program.command]
    variables = environment() | program.variables
    if "PYTHONUNBUFFERED" not in program.variables:
        variables.pop("PYTHONUNBUFFERED", None)
    put = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    main, closing = None, []
    if program.stdout == "terminal":
        main, terminal = pty.openpty()
        put |= {"stdin": terminal, "stdout": terminal}
        closing = [terminal]
    elif program.stdout == "closed pipe":
        read, write = os.pipe()
        os.close(read)
        put["stdout"], closing = write, [write]
    elif program.stdout:
        put["stdout"] = os.open(program.stdout, os.O_WRONLY)
        closing = [put["stdout"]]
    process = subprocess.Popen([*map(str, before), *words], cwd=folder, env=variables,
                               preexec_fn=program.prepare, **put)  # fmt: skip
    for number in closing:
        os.close(number)
    given = None if program.stdout == "terminal" else program.stdin.encode()
    try:
        output, errors = process.communicate(given, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        output, errors = process.communicate()
        errors += b"\nended after the longest time\n"
    if main is not None:
        output = read_all(main)
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    text = errors.decode(errors="backslashreplace")
    return Outcome(status, (output or b"").decode(errors="backslashreplace"), REPORT.sub("", text) if before else text,
                   files_in(folder))  # fmt: skip


def prepared(program, place):
    folder = os.path.join(os.fsencode(place), program.folder)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    own = {"program.py": textwrap.dedent(program.source), "tiny.py": (FOLDER / "tiny.py").read_text()}
    texts = own | program.files
    for name, text in texts.items():
        path = os.path.join(folder, os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.utime(path, (WRITTEN, WRITTEN))  # which compiled files hold
    return folder


def read_all(terminal):
    """What was written to a terminal whose other side is closed."""
    found = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            part = b""
        if not part:
            os.close(terminal)
            return found
        found += part


def files_in(folder):
    found = {}
    for parent, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(parent, name)
            found[os.fsdecode(os.path.relpath(path, folder))] = description_of(path)
    return found


def description_of(path):
    info = os.lstat(path)
    mode = oct(stat.S_IMODE(info.st_mode))
    if stat.S_ISLNK(info.st_mode):
        return "link", mode, os.fsdecode(os.readlink(path))
    if not stat.S_ISREG(info.st_mode):
        return "folder" if stat.S_ISDIR(info.st_mode) else "special", mode, ""
    with open(path, "rb") as file:
        content = file.read()
    return "file", mode, f"{len(content)} bytes {hashlib.sha256(content).hexdigest()[:12]}"


def allow(program, watched, out):
    """Puts what is allowed to differ as it is bare; gives the allowances that were of no use."""
    problems = []
    for allowed in program.allowed:
        text = getattr(watched, allowed.where)
        said = allowed.watched.format(out=out)
        if said not in text:
            problems.append(f"allowed in {allowed.where}, and not there: {said!r}")
        setattr(watched, allowed.where, text.replace(said, allowed.bare))
    return problems


def differences(bare, watched):
    problems = []
    if bare.status != watched.status:
        problems.append(f"status {bare.status} -> {watched.status}")
    for where in ("stdout", "stderr"):
        one, other = (ADDRESS.sub("0x", getattr(outcome, where)) for outcome in (bare, watched))
        if one != other:
            problems.append(f"{where}: {first_difference(one, other)}")
    for path in sorted(bare.files.keys() | watched.files.keys()):
        one, other = bare.files.get(path), watched.files.get(path)
        if one != other:
            problems.append(f"file {path}: {one} -> {other}")
    return problems


def first_difference(one, other):
    lines, others = one.splitlines(), other.splitlines()
    for number, (line, other_line) in enumerate(zip(lines, others), 1):
        if line != other_line:
            return f"line {number}: {line[:300]!r} -> {other_line[:300]!r}"
    rest = (lines[len(others) :] or others[len(lines) :] or ["<the end of a line>"])[0]
    return f"{len(lines)} -> {len(others)} lines, beginning with {rest[:300]!r}"

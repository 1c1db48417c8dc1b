"""Runs of dlcheck-train as several ranks, for tests that do something to one of them."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import time

from support import BUILD, TORCH_PYTHON, TRAINER, EndToEnd

PLUGIN = BUILD / "tests" / "plugins" / "libmisbehaving.so"
TROUBLE = BUILD / "tests" / "libtroubled_rank.so"
LOST = 5  # the exit status of a rank that is well, but lost another
WARNING = "dlcheck-train: warning: "
LONG = 1000000  # steps: longer than any test

rows = []  # of the table of faults: id, fault, line, seconds, test


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def processes_with(mark):
    """By id, the command lines that carry the mark."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else ()
        except OSError:
            continue
        if mark.encode() in words:
            found[int(entry.name)] = words
    return found


def rank_of(process):
    """From the environment that it was started with; none if it is no rank."""
    try:
        variables = pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    ranks = [int(entry[5:]) for entry in variables if entry.startswith(b"RANK=")]
    return ranks[0] if ranks else None


class Ended:
    """How a run ended: statuses and standard errors of what was started, in order, and seconds
    since the fault."""

    def __init__(self, statuses, errors, outs, seconds):
        self.statuses, self.errors, self.outs, self.seconds = statuses, errors, outs, seconds

    @property
    def said(self):
        return "".join(self.errors)


class RankTest(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_trainer()
        # Which no other run has on its command line.
        self.mark = f"--seed={os.getpid()}{time.monotonic_ns() % 10**6:06}"
        self.checkpoints = self.folder / "checkpoints"
        self.log = self.folder / "log"
        self.started = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in processes_with(self.mark):
            os.kill(process, signal.SIGKILL)
        for process in self.started:
            process.wait()

    def command(self, *flags):
        return [str(TRAINER), self.mark, "--evaluate-every", str(LONG), "--evaluate-samples", "64",
                "--checkpoints", str(self.checkpoints), "--checkpoint-every", "10",
                "--log", str(self.log), "--log-every", "1", *map(str, flags)]

    def start(self, words, variables=(), **keywords):
        """One more process, with its streams in files, which no reader can hold up."""
        streams = [self.folder / f"{len(self.started)}.{name}" for name in ("out", "error")]
        with open(streams[0], "wb") as out, open(streams[1], "wb") as error:
            process = subprocess.Popen(words, stdout=out, stderr=error, cwd=self.folder,
                                       env=dict(os.environ, OMP_NUM_THREADS="1", **dict(variables)),
                                       **keywords)
        process.streams = streams
        self.started.append(process)
        return process

    def start_ranks(self, world, *flags, ranks=None, port=None, address="127.0.0.1", of_rank=(),
                    before=(), told=(), flags_of=(), programs=()):
        """As Slurm or an MPI would: each by itself. By rank: `of_rank` variables, words `before` the
        command, the world that it is `told` of, flags and a program of its own."""
        port = port or free_port()
        for rank in range(world) if ranks is None else ranks:
            variables = {"RANK": rank, "WORLD_SIZE": dict(told).get(rank, world),
                         "LOCAL_WORLD_SIZE": world, "MASTER_ADDR": address, "MASTER_PORT": port,
                         **dict(of_rank).get(rank, {})}
            self.start([*dict(before).get(rank, ()), dict(programs).get(rank, TRAINER),
                        *self.command(*flags)[1:], *map(str, dict(flags_of).get(rank, ()))],
                       {name: str(value) for name, value in variables.items()},
                       # So that a file that grows too large is an error and not a signal.
                       restore_signals=False)

    def start_with_torchrun(self, world, *flags, **keywords):
        self.require_torch()
        self.start([TORCH_PYTHON, "-m", "torch.distributed.run", "--standalone",
                    "--nproc-per-node", str(world), "--no-python", "--", *self.command(*flags)], **keywords)

    def start_supervised(self, world, *flags, **keywords):
        self.start(self.command("--nproc", world, *flags), **keywords)

    def process_of(self, rank):
        return next(process for process in processes_with(self.mark) if rank_of(process) == rank)

    def step(self):
        """The last in the log; -1 before the first."""
        try:
            lines = self.log.read_text().splitlines()
        except OSError:
            return -1
        steps = [json.loads(line)["step"] for line in lines[-3:] if line.endswith("}")]
        return max(steps, default=-1)

    def await_step(self, step, seconds=60):
        end = time.monotonic() + seconds
        running = [process for process in self.started if process.poll() is None]
        while self.step() < step:
            if time.monotonic() > end or any(process.poll() for process in running):
                self.fail(f"step {step} is not reached: {self.said_by_now()}")
            time.sleep(0.02)
        time.sleep(0.5)  # by then the ranks have said so to each other

    def said_by_now(self):
        return "".join(self.text_of(process, 1) for process in self.started)

    @staticmethod
    def text_of(process, stream):
        return process.streams[stream].read_text(errors="replace")

    def hit(self, rank, number):
        os.kill(self.process_of(rank), number)

    def finish(self, limit=30, except_for=()):
        """Waits until all that was started has ended, but for those, which are then killed."""
        begin = time.monotonic()
        for place, process in enumerate(self.started):
            if place in except_for:
                continue
            try:
                process.wait(timeout=max(0.1, begin + limit - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.fail(f"not ended after {limit} s: {self.said_by_now()}")
        seconds = time.monotonic() - begin
        for place in except_for:
            self.started[place].kill()
            self.started[place].wait()
        ended = Ended([process.returncode for process in self.started],
                      [self.text_of(process, 1) for process in self.started],
                      [self.text_of(process, 0) for process in self.started], seconds)
        self.assert_none_is_left()
        return ended

    def assert_none_is_left(self):
        end = time.monotonic() + 3
        while processes_with(self.mark) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(processes_with(self.mark), {})

    def assert_one_line(self, error, *parts):
        """One line, with all of these in it, beside warnings of LibTorch. Returns it."""
        lines = [line for line in error.splitlines() if not line.startswith(WARNING)]
        self.assertEqual(len(lines), 1, error)
        for part in parts:
            self.assertIn(part, lines[0])
        return lines[0]

    def assert_resumes(self, world, *flags):
        """The newest checkpoint is whole: a run goes on from it."""
        self.started.clear()
        newest = max(name for name in os.listdir(self.checkpoints) if name[5:].isdigit())
        self.start_supervised(world, *flags, "--resume", "--steps", int(newest[5:]) + 5)
        ended = self.finish(60)
        self.assertEqual(ended.statuses, [0], ended.said)
        self.assertIn(f"going on from '{self.checkpoints}/{newest}'", ended.outs[0])

    def row(self, identity, fault, ended, said):
        """For the table of faults."""
        lines = [line for line in said.splitlines() if not line.startswith(WARNING)]
        rows.append((identity, fault, lines[0], f"{ended.seconds:.1f}", self.id()))


def print_rows():
    print("\n| row | fault | what one rank says | s | test |\n|---|---|---|---|---|")
    for row in sorted(rows):
        print("| " + " | ".join(row) + " |")

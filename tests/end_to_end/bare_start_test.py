"""A watched program starts as it does without dlcheck: signals, masks, descriptors, limits, environment,
process group, terminal, priority. What differs is listed here, and nothing else does."""

import fcntl
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import termios
import unittest

from support import DLCHECK, EndToEnd, environment

# Prints what a process was given by whoever started it.
REPORT = r"""
import json, os, resource, sys, termios

def lines(path):
    with open(path) as file:
        return dict(line.rstrip("\n").split(":", 1) for line in file)

STATUS = ("SigBlk", "SigIgn", "SigCgt", "SigPnd", "ShdPnd", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
          "NoNewPrivs", "Seccomp", "Umask", "Groups", "Uid", "Gid", "Cpus_allowed", "Mems_allowed",
          "Speculation_Store_Bypass", "Threads", "NStgid", "CoreDumping", "THP_enabled")
status = lines("/proc/self/status")
listing = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY)
descriptors = {}
for name in os.listdir(listing):
    if int(name) != listing:
        try:
            info = lines(f"/proc/self/fdinfo/{name}")
            descriptors[name] = [os.readlink(f"/proc/self/fd/{name}").split(":")[0], info["flags"].strip()]
        except OSError:
            pass
os.close(listing)
terminal = None
if os.isatty(0):
    terminal = [repr(termios.tcgetattr(0)), os.tcgetpgrp(0) == os.getpgrp(), os.ttyname(0)]
print(json.dumps({
    "status": {key: status[key].strip() for key in STATUS if key in status and key != "NStgid"},
    "descriptors": descriptors,
    "limits": open("/proc/self/limits").read(),
    "environment": dict(os.environ),
    "session and group": [os.getsid(0) == SESSION, os.getpgrp() == GROUP],
    "terminal": terminal,
    "priority": [os.getpriority(os.PRIO_PROCESS, 0), open("/proc/self/oom_score_adj").read(),
                 os.sched_getscheduler(0)],
    "namespaces": {name: os.readlink(f"/proc/self/ns/{name}") for name in sorted(os.listdir("/proc/self/ns"))},
    "folder": os.getcwd(), "root": os.readlink("/proc/self/root"),
    "cgroup": open("/proc/self/cgroup").read(),
    "personality": open("/proc/self/personality").read(),
    "arguments": sys.argv[1:], "flags": list(sys.flags),
}))
"""
# As the documentation has it.
OURS = {"PYTHONPATH", "DLCHECK_REQUEST"}


class BareStart(EndToEnd):
    def reported(self, watched, prepare=None, **options):
        """What a Python program reports, bare or watched, after `prepare` ran in the process that starts
        it."""
        head = f"SESSION, GROUP = {os.getsid(0)}, {os.getpgrp()}\n"
        program = [sys.executable, "-c", head + REPORT, "one", "two three"]
        command = [DLCHECK, "run", "--output-dir", self.out, "--", *program] if watched else program
        process = subprocess.run(list(map(str, command)), preexec_fn=prepare, env=environment(),
                                 cwd=self.folder, stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.PIPE, **options)  # fmt: skip
        self.assertNotEqual(process.stdout, "", process.stderr)
        return json.loads(process.stdout)

    def compare(self, prepare=None, **options):
        bare = self.reported(False, prepare, **options)
        watched = self.reported(True, prepare, **options)
        environment_of_both = [report.pop("environment") for report in (bare, watched)]
        self.assertEqual(watched, bare)
        without, with_us = environment_of_both
        differing = {k for k in without.keys() | with_us.keys() if without.get(k) != with_us.get(k)}
        self.assertEqual(differing, OURS)
        return bare

    def test_as_it_is(self):
        self.compare()

    def test_with_signals_ignored(self):
        def ignore():
            for number in (signal.SIGQUIT, signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1,
                           signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
                signal.signal(number, signal.SIG_IGN)

        self.assertNotEqual(int(self.compare(ignore)["status"]["SigIgn"], 16) & 1 << signal.SIGQUIT - 1, 0)

    def test_with_signals_at_their_defaults(self):
        def reset():
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)

        self.compare(reset)

    def test_with_signals_blocked(self):
        def block():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGTERM, signal.SIGALRM})

        self.assertNotEqual(int(self.compare(block)["status"]["SigBlk"], 16), 0)

    def test_with_descriptors_of_the_parent(self):
        read, write = os.pipe()
        file = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        high = os.dup2(read, 500)
        for number in (read, write, file, high):
            self.addCleanup(os.close, number)
        bare = self.compare(pass_fds=(read, write, file, high))
        self.assertIn("500", bare["descriptors"])

    def test_with_closed_standard_streams(self):
        self.compare(lambda: os.close(0))

    def test_with_limits(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
            resource.setrlimit(resource.RLIMIT_CPU, (600, 600))

        self.compare(limit)

    def test_with_a_umask_and_a_priority(self):
        def change():
            os.umask(0o027)
            os.nice(3)

        self.assertEqual(self.compare(change)["status"]["Umask"], "0027")

    def test_on_a_terminal_with_modes_of_its_own(self):
        main, terminal = pty.openpty()
        self.addCleanup(os.close, main)
        self.addCleanup(os.close, terminal)
        modes = termios.tcgetattr(terminal)
        modes[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(terminal, termios.TCSANOW, modes)
        modes = termios.tcgetattr(terminal)

        def make_it_the_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.assertTrue(self.compare(make_it_the_terminal, stdin=terminal)["terminal"][1], "in the foreground")
        self.assertEqual(termios.tcgetattr(terminal), modes)


class Signals(EndToEnd):
    def test_a_signal_to_dlcheck_alone_reaches_the_program(self):
        script = ('import signal, sys, time\n'
                  'def end(number, frame):\n    print("got", number, flush=True); sys.exit(7)\n'
                  'for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(n, end)\n'
                  'print("ready", flush=True)\ntime.sleep(60)')  # fmt: skip
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([DLCHECK, "run", "--output-dir", self.out, "--exit-code", "program", "--",
                                        sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                                       stderr=subprocess.PIPE, cwd=self.folder, env=environment())  # fmt: skip
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(number)
            output, errors = process.communicate(timeout=30)
            self.assertEqual((output, process.returncode), (f"got {int(number)}\n", 7), errors)

    def test_a_signal_in_the_first_moment_of_the_program_is_not_lost(self):
        script = 'trap "exit 7" TERM; kill -TERM $PPID; sleep 5 >/dev/null 2>&1 & wait; exit 0'
        for _ in range(20):
            process = self.run_command("sh", "-c", script, options=["--exit-code", "program"])
            self.assertEqual(process.returncode, 7, process.stderr)

    def test_a_program_that_quits_by_sigquit_does_so_watched(self):
        process = self.run_command("sh", "-c", "kill -QUIT $$; echo survived",
                                   options=["--exit-code", "program"])  # fmt: skip
        self.assertEqual((process.stdout, process.returncode), ("", 128 + signal.SIGQUIT))

    def test_under_nohup_an_interrupt_ends_nobody(self):
        script = 'import os, signal; os.kill(os.getppid(), signal.SIGINT); print("survived")'
        process = subprocess.run([DLCHECK, "run", "--output-dir", self.out, "--exit-code", "program", "--",
                                  sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
                                 cwd=self.folder, env=environment(), stderr=subprocess.DEVNULL)  # fmt: skip
        self.assertEqual((process.stdout, process.returncode), ("survived\n", 0))


if __name__ == "__main__":
    unittest.main()

"""What experiments reach beyond files: no network but the program's own loopback, unless that is asked for,
and no process that outlives them."""

import os
import signal
import socket
import sys
import textwrap
import threading
import unittest

from leftovers import processes_below
from support import SOURCE, EndToEnd

DEEP = ("--deep", "--select", "reproducibility/nondeterministic_training", "--select", "program/failed")
# Writes records itself, so that it needs no torch.
PROGRAM = textwrap.dedent(
    """
    import os, socket, subprocess, sys
    sys.path.insert(0, sys.argv[1])
    import recording

    def reach(port):
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            return "reached"
        except OSError as error:
            return type(error).__name__

    training = recording.open_writer()
    own = socket.create_server(("127.0.0.1", 0))
    print("outside", reach(int(sys.argv[2])), "own", reach(own.getsockname()[1]), flush=True)
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", os.getcwd()], start_new_session=True,
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for step in range(10):
        training.step(step, 1 / (step + 1))
    training.writer.close()
    """
)


class ExperimentReach(EndToEnd):
    def setUp(self):
        super().setUp()
        (self.folder / "train.py").write_text(PROGRAM)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port, self.met = self.server.getsockname()[1], 0
        threading.Thread(target=self.serve, daemon=True).start()
        self.addCleanup(self.server.close)
        self.addCleanup(self.end_daemons)

    def serve(self):
        while True:
            try:
                self.server.accept()[0].close()
            except OSError:
                return
            self.met += 1

    def daemons(self):
        return [int(line.split()[1].rstrip(":")) for line in processes_below(self.folder) if "time.sleep(600)" in line]

    def end_daemons(self):
        for daemon in self.daemons():
            os.kill(daemon, signal.SIGKILL)

    def watch(self, *options):
        """The finished run, and what the program printed under the experiment."""
        process = self.run_command(sys.executable, "train.py", SOURCE / "tests/end_to_end", self.port,
                                   options=(*DEEP, *options))  # fmt: skip
        said = "".join(path.read_text() for path in self.out.glob("runs/0[1-9]*/output"))
        return process, said

    def require_cut(self, process):
        if "It reaches no network but loopback." not in " ".join(process.stderr.split()):
            self.skipTest("this system gives no network namespace")

    def test_the_world_is_met_once_and_a_server_of_the_program_answers(self):
        process, said = self.watch()
        self.require_cut(process)
        self.assertEqual(process.stdout, "outside reached own reached\n")
        self.assertEqual(said, "outside ConnectionRefusedError own reached\n")
        self.assertEqual(self.met, 1)

    def test_the_network_is_there_on_request_and_that_is_said(self):
        process, said = self.watch("--deep-network")
        self.assertIn("It reaches the network (--deep-network).", " ".join(process.stderr.split()))
        self.assertEqual((said, self.met), ("outside reached own reached\n", 2))

    def test_what_an_experiment_starts_ends_with_it_in_a_session_of_its_own_too(self):
        self.watch()
        self.assertEqual(len(self.daemons()), 1, "that of the plain run, which is the user's")

    def test_before_the_first_experiment_it_is_said_how_often_the_program_starts(self):
        """Once for the check, and twice with a suggested change."""
        process, _ = self.watch()
        self.assertIn("dlcheck  --deep starts the program up to 3 more times. ", process.stderr)

    def test_a_dry_run_lists_the_experiments_and_starts_nothing(self):
        process, _ = self.watch("--dry-run")
        self.assertEqual((process.returncode, self.met, self.daemons()), (0, 0, []))
        self.assertIn("reproducibility/nondeterministic_training", process.stdout)
        self.assertIn("It reaches no network but loopback.", process.stdout)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()

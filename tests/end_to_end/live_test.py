"""Findings while a program runs: said once, at once; the program goes on, or is stopped where that was asked."""

import json
import signal
import subprocess
import sys
import time
import unittest

from support import BUILD, DLCHECK, SOURCE, EndToEnd, environment, preloads

TRACE = SOURCE / "tests" / "golden" / "trace-2.0"
STALE = "optimizer/stale_gradients"
LIVE = f"dlcheck  live: error {STALE} "


class Live(EndToEnd):
    """Programs that write, in pieces, the records of one that never clears its gradients."""

    def program(self, *lines):
        """A shell program; `$RUN` is its run folder, and `copy` makes the recorded run's
        records its own."""
        recorded = next(TRACE.glob("runs/*/records"))
        path = self.folder / "program.sh"
        copy = f"{sys.executable} {SOURCE}/tests/end_to_end/sealing.py {recorded}"
        path.write_text("\n".join([f"copy() {{ {copy}; }}", 'RUN=$(dirname "$DLCHECK_REQUEST")',
                                   *lines]) + "\n")
        return ["sh", path]

    def test_an_error_is_said_once_while_the_program_goes_on(self):
        process = self.run_command(*self.program("copy", "sleep 3",
                                                 "echo finished >&2"))
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertEqual(process.stderr.count(LIVE), 1, process.stderr)
        self.assertLess(process.stderr.index(LIVE), process.stderr.index("finished"))
        self.assertEqual(self.result()["runs"][0]["ended"], "finished")

    def test_torn_files_are_tolerated_until_they_are_whole(self):
        process = self.run_command(*self.program(
            'copy; for f in "$RUN"/records/*; do head -c 30 "$f" > "$RUN/x"; cat "$RUN/x" > "$f"; done',
            "sleep 1.5", "copy", "sleep 3", "echo finished >&2"))
        self.assertEqual(process.stderr.count(LIVE), 1, process.stderr)
        self.assertLess(process.stderr.index(LIVE), process.stderr.index("finished"))

    def test_no_live_switches_it_off(self):
        process = self.run_command(*self.program("copy", "sleep 2"),
                                   options=["--no-live"])
        self.assertEqual(process.returncode, 1)
        self.assertNotIn("live:", process.stderr)

    def test_what_is_suppressed_is_not_said(self):
        (self.folder / "dlcheck.toml").write_text(
            f'[[suppress]]\ncheck = "{STALE}"\nreason = "sums on purpose"\n')
        process = self.run_command(*self.program("copy", "sleep 2"),
                                   options=["--stop-on", "error"])
        self.assertNotIn("live:", process.stderr)
        self.assertEqual(self.result()["runs"][0]["ended"], "finished")

    def test_a_failure_of_the_program_is_not_judged_before_its_end(self):
        process = self.run_command("sh", "-c", "sleep 1.5; exit 3")
        self.assertNotIn("live:", process.stderr)

    def stopped(self, *lines):
        began = time.monotonic()
        process = self.run_command(*self.program(*lines), options=["--stop-on", "error"])
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertIn(f"stopped at the first live error, of {STALE}", process.stderr)
        self.assertEqual(self.check("program/failed")["outcome"], "passed")
        run = self.result()["runs"][0]
        self.assertEqual((run["ended"], run["stopped_by"]), ("stopped", STALE))
        return time.monotonic() - began

    @preloads
    def test_a_clock_that_is_put_back_delays_no_finding(self):
        jump = {"LD_PRELOAD": str(BUILD / "tests/libjumping_clock.so"), "JUMP_SECONDS": "-86400"}
        program = self.program("sleep 1", "copy", "sleep 3", "echo finished >&2")
        process = self.run_command(*program, **jump)
        self.assertLess(process.stderr.index(LIVE), process.stderr.index("finished"))

    def test_stop_on_error_ends_the_program_and_accuses_only_the_finding(self):
        self.assertLess(self.stopped("copy", "exec sleep 60"), 20)

    def test_a_program_that_ignores_sigterm_is_killed_after_the_grace(self):
        took = self.stopped("copy", "trap '' TERM",
                            "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do",
                            "sleep 1; done")
        self.assertGreater(took, 5)
        self.assertLess(took, 18)

    def test_stop_on_needs_live_findings(self):
        process = self.run_command("true", options=["--stop-on", "error", "--no-live"])
        self.assertEqual(process.returncode, 2)

    def test_a_program_stopped_through_us_is_not_accused(self):
        process = subprocess.Popen(
            [DLCHECK, "run", "--output-dir", self.out, "--",
             *self.program("copy", "exec sleep 60")],
            stderr=subprocess.PIPE, text=True, env=environment(), cwd=self.folder)
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("the program was stopped by SIGTERM", stderr)
        self.assertEqual(self.check("program/failed")["outcome"], "passed")

    def test_judging_again_knows_what_stopped_the_run(self):
        self.stopped("copy", "exec sleep 60")
        process = self.dlcheck("judge", self.out, "--report", f"json={self.folder}/again.json")
        self.assertIn("first live error", process.stderr)
        again = json.loads((self.folder / "again.json").read_text())
        self.assertEqual(again["runs"], self.result()["runs"])


if __name__ == "__main__":
    unittest.main()

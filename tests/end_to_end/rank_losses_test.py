"""A rank is lost while it trains with others: each of them says in one line which, and ends.

Ends with the table of faults. Calls of another shape, type or order (G08 to G10) and ranks that part
(G15) are faults of a program and not of its machine: the checks of distributed find them, on the programs
of tests/programs/rank_faults.
"""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from rank_runs import LONG, LOST, PLUGIN, TROUBLE, RankTest, print_rows
from support import drawn_tests

FAILING = TROUBLE.with_name("libfailing_call.so")
SLOW = ("--steps", LONG, "--heartbeat-timeout", 3)


def tearDownModule():
    print_rows()


@drawn_tests(8)
class Losses(RankTest):
    def assert_others_name(self, ended, lost, *parts, status=LOST):
        for rank, (code, error) in enumerate(zip(ended.statuses, ended.errors)):
            if rank != lost:
                self.assertEqual(code, status, error)
                self.assert_one_line(error, f"dlcheck-train: rank {rank}: rank {lost} ", *parts)

    # G01

    def test_a_rank_that_is_killed_is_named_by_every_other_with_its_step(self):
        for lost in (0, 1, 2):
            with self.subTest(rank=lost):
                self.started.clear()
                self.log.unlink(missing_ok=True)
                self.start_ranks(3, *SLOW, *(["--resume"] if lost else []))
                self.await_step(15)
                step = self.step()
                self.hit(lost, signal.SIGKILL)
                ended = self.finish(5)
                self.assertEqual(ended.statuses[lost], -signal.SIGKILL)
                self.assert_others_name(ended, lost, "is gone", "last seen at step ")
                seen = int(ended.errors[lost - 1].rsplit(" ", 1)[1])
                self.assertLess(abs(seen - step), 2000)
                self.assertGreater(seen, 0)
                self.row("G01", f"SIGKILL of rank {lost} of 3", ended, ended.errors[lost - 1])
        self.assert_resumes(3)

    def test_torchrun_sees_its_ranks_name_the_one_that_was_killed(self):
        self.start_with_torchrun(3, *SLOW)
        self.await_step(15)
        self.hit(1, signal.SIGKILL)
        ended = self.finish(30)
        self.assertNotEqual(ended.statuses, [0])
        lines = [line for line in ended.said.splitlines() if line.startswith("dlcheck-train")]
        self.assertNotIn("frame #", ended.said)
        self.assertTrue(lines and all("rank 1 is gone" in line for line in lines), ended.said)
        self.row("G01", "SIGKILL of rank 1 of 3 under torchrun", ended, lines[0])
        self.assert_resumes(3)

    def test_the_supervisor_says_which_signal_it_was(self):
        self.start_supervised(3, *SLOW)
        self.await_step(15)
        self.hit(2, signal.SIGKILL)
        ended = self.finish(10)
        self.assertEqual(ended.statuses, [LOST])
        line = "dlcheck-train: rank 2 of 3 was ended by Killed; the others were ended"
        *others, last = ended.said.splitlines()
        self.assertEqual(last, line)
        for rank, said in enumerate(sorted(others)):
            self.assertIn(f"dlcheck-train: rank {rank}: rank 2 is gone: ", said)
        self.assertEqual(len(others), 2)
        self.row("G01", "SIGKILL of rank 2 of 3 under --nproc", ended, line)
        self.assert_resumes(3)

    # G02

    def test_a_rank_that_is_stopped_is_named_within_the_limit(self):
        for lost in (0, 1):
            with self.subTest(rank=lost):
                self.started.clear()
                self.log.unlink(missing_ok=True)
                self.start_ranks(3, *SLOW, *(["--resume"] if lost else []))
                self.await_step(15)
                self.hit(lost, signal.SIGSTOP)
                ended = self.finish(12, except_for=[lost])
                self.assertGreaterEqual(ended.seconds, 2)
                self.assert_others_name(ended, lost, "is stopped or cannot be reached",
                                        "last seen at step ")
                self.row("G02", f"SIGSTOP of rank {lost} of 3", ended, ended.errors[lost - 1])
        self.assert_resumes(3)

    def test_a_rank_that_goes_on_too_late_ends_too(self):
        self.start_ranks(2, *SLOW)
        self.await_step(15)
        stopped = self.process_of(1)
        os.kill(stopped, signal.SIGSTOP)
        self.started[0].wait(timeout=12)
        os.kill(stopped, signal.SIGCONT)
        ended = self.finish(10)
        self.assertEqual(ended.statuses, [LOST, LOST], ended.said)
        self.assert_one_line(ended.errors[1], "dlcheck-train: rank 1: ")

    def test_a_run_that_is_stopped_as_a_whole_goes_on(self):
        self.start_ranks(2, *SLOW)
        self.await_step(15)
        for number, seconds in ((signal.SIGSTOP, 5), (signal.SIGCONT, 2)):
            for rank in range(2):
                self.hit(rank, number)
            time.sleep(seconds)
        self.await_step(self.step() + 10)
        for process in self.started:
            process.terminate()
        ended = self.finish(20)
        self.assertEqual((ended.statuses, ended.said), ([-signal.SIGTERM] * 2, ""))
        self.row("G02", "SIGSTOP of both ranks, and SIGCONT after 5 s", ended,
                 "none: the run goes on")

    def test_the_supervisor_ends_a_stopped_rank(self):
        self.start_supervised(2, *SLOW)
        self.await_step(15)
        self.hit(1, signal.SIGSTOP)
        ended = self.finish(15)
        self.assertEqual(ended.statuses, [LOST])
        line = "dlcheck-train: rank 1 of 2 was stopped by a signal; the others were ended"
        self.assertEqual(ended.said.splitlines()[-1], line)
        self.row("G02", "SIGSTOP of rank 1 of 2 under --nproc", ended, line)

    def test_the_supervisor_ends_ranks_that_are_all_stopped(self):
        self.start_supervised(2, *SLOW)
        self.await_step(15)
        for rank in range(2):
            self.hit(rank, signal.SIGSTOP)
        ended = self.finish(25)
        self.assertEqual(ended.statuses, [LOST])
        line = "dlcheck-train: rank 0 of 2 was stopped by a signal; the others were ended"
        self.assertEqual(ended.said, line + "\n")
        self.row("G02", "SIGSTOP of both ranks under --nproc", ended, line)

    # G03

    def test_a_rank_with_a_tenth_of_its_processor_is_not_given_up(self):
        self.start_ranks(2, *SLOW)
        self.await_step(15)
        slow, end = self.process_of(1), time.monotonic() + 8
        before = self.step()
        while time.monotonic() < end:
            os.kill(slow, signal.SIGSTOP)
            time.sleep(0.9)
            os.kill(slow, signal.SIGCONT)
            time.sleep(0.1)
        self.assertGreater(self.step(), before)
        self.assertEqual([process.poll() for process in self.started], [None, None])
        for process in self.started:
            process.terminate()
        ended = self.finish(20)
        self.assertEqual((ended.statuses, ended.said), ([-signal.SIGTERM] * 2, ""))
        self.row("G03", "rank 1 of 2 runs a tenth of the time, for 8 s", ended,
                 "none: the run goes on")
        self.assert_resumes(2)

    def test_a_rank_that_saves_for_long_is_not_given_up(self):
        self.start_ranks(2, "--steps", 30, "--heartbeat-timeout", 3, "--checkpoint-every", 0,
                         of_rank={1: {"LD_PRELOAD": TROUBLE, "RANK_TROUBLE": "slow_sync"}})
        ended = self.finish(60)
        self.assertEqual((ended.statuses, ended.said), ([0, 0], ""))
        self.assertGreater(ended.seconds, 7)
        self.row("G03", "rank 1 of 2 saves for 14 s", ended, "none: the run ends well")
        self.assert_resumes(2)

    def test_a_rank_that_ends_its_run_late_is_waited_for(self):
        self.start_ranks(2, "--steps", 4, "--model", PLUGIN,
                         of_rank={1: {"PLUGIN_PLACE": "destructor", "PLUGIN_DOES": "sleep"}})
        ended = self.finish(30)
        self.assertEqual(ended.statuses, [0, 0], ended.said)

    # G04

    def test_a_rank_that_leaves_with_status_0_is_named(self):
        self.start_ranks(2, *SLOW, "--model", PLUGIN, "--checkpoint-every", 2,
                         of_rank={1: {"PLUGIN_PLACE": "training", "PLUGIN_DOES": "leave"}})
        ended = self.finish(20)
        self.assertEqual(ended.statuses, [LOST, 0])
        self.assert_others_name(ended, 1, "is gone", "last seen at step ")
        self.row("G04", "rank 1 of 2 leaves with status 0", ended, ended.errors[0])
        self.assert_resumes(2, "--model", PLUGIN)

    def test_a_rank_that_leaves_with_status_0_is_told_by_what_started_it(self):
        leaving = {"PLUGIN_PLACE": "training", "PLUGIN_DOES": "leave", "PLUGIN_RANK": "1"}
        flags = (*SLOW, "--model", PLUGIN, "--checkpoint-every", 2)
        self.start_supervised(2, *flags, variables=leaving)
        ended = self.finish(20)
        self.assertEqual(ended.statuses, [LOST], ended.said)
        line = ("dlcheck-train: rank 1 of 2 left before the others, exit status 0; "
                "the others were ended")
        self.assertEqual(ended.said.splitlines()[-1], line)
        self.assertIn("dlcheck-train: rank 0: rank 1 is gone: ", ended.said)
        self.row("G04", "rank 1 of 2 leaves with status 0 under --nproc", ended, line)
        self.started.clear()
        self.start_with_torchrun(2, *flags, "--resume", variables=leaving)
        ended = self.finish(30)
        self.assertEqual(ended.statuses, [1], ended.said)
        self.assertIn("dlcheck-train: rank 0: rank 1 is gone: ", ended.said)
        lines = [line for line in ended.said.splitlines() if line.startswith("dlcheck-train")]
        line = self.assert_one_line("\n".join(lines), "dlcheck-train: rank 0: rank 1 is gone: ")
        self.row("G04", "rank 1 of 2 leaves with status 0 under torchrun", ended, line)
        self.assert_resumes(2, "--model", PLUGIN)

    # A hang, which no heart shows.

    def test_a_rank_that_lives_but_does_not_come_is_named(self):
        for lost in (0, 1):
            with self.subTest(rank=lost):
                self.started.clear()
                self.checkpoints = self.folder / f"checkpoints{lost}"
                self.start_ranks(2, *SLOW, "--model", PLUGIN, "--collective-timeout", 3,
                                 "--checkpoint-every", 2,
                                 of_rank={lost: {"PLUGIN_PLACE": "training", "PLUGIN_DOES": "loop"}})
                ended = self.finish(30)
                self.assertEqual(ended.statuses, [LOST, LOST], ended.said)
                self.assert_others_name(ended, lost, "lives, but did not come", "at step ")
                self.assert_one_line(ended.errors[lost], "given up by the others")
                self.row("G02", f"rank {lost} of 2 loops for ever", ended, ended.errors[lost - 1])

    # G12

    def test_no_rank_outlives_what_started_it(self):
        for start in (self.start_supervised, self.start_with_torchrun):
            with self.subTest(start=start.__name__):
                self.started.clear()
                self.log.unlink(missing_ok=True)
                start(2, *SLOW, "--resume")
                self.await_step(15)
                ranks = [self.process_of(rank) for rank in range(2)]
                begin = time.monotonic()
                self.started[0].kill()
                while any(pathlib.Path(f"/proc/{rank}").exists() for rank in ranks):
                    self.assertLess(time.monotonic() - begin, 10, self.said_by_now())
                    time.sleep(0.05)
                ended = self.finish(5)
                ended.seconds = time.monotonic() - begin
                said = [line for line in ended.said.splitlines() if line.startswith("dlcheck-t")]
                self.row("G12", f"SIGKILL of what started two ranks ({start.__name__[6:]})", ended,
                         said[0] if said else "none: the kernel ends the ranks")
        self.assert_resumes(2)

    # G13

    def test_a_rank_that_the_memory_controller_ends_is_told_from_any_other(self):
        group = pathlib.Path("/sys/fs/cgroup/memory") / f"dlcheck-{os.getpid()}"
        try:
            group.mkdir()
            self.addCleanup(group.rmdir)
            self.addCleanup(self.end_all)
            (group / "memory.limit_in_bytes").write_text(str(900 << 20))
        except OSError as error:
            self.skipTest(f"no control group of memory can be made: {error}")
        script = f'echo $$ > {group}/cgroup.procs; exec "$@"'
        self.start(["sh", "-c", script, "sh",
                    *self.command(*SLOW, "--nproc", 2, "--model", PLUGIN)],
                   {"PLUGIN_PLACE": "training", "PLUGIN_DOES": "allocate"})
        ended = self.finish(60)
        self.assertEqual(ended.statuses, [LOST], ended.said)
        line = ended.said.splitlines()[-1]
        self.assertRegex(line, "rank [01] of 2 was ended by Killed, as memory ran out")
        self.row("G13", "memory of the control group runs out", ended, line)

    # G17

    def test_restarts_end_and_the_first_cause_is_said(self):
        self.start_with_torchrun(2, "--steps", LONG, "--fault", "crash_at_step_37")
        ended = self.finish(30)
        self.assertEqual(ended.statuses, [1])
        self.assertIn("planted failure at step 37", ended.said)
        self.row("G17", "every rank fails by itself", ended, next(
            line for line in ended.said.splitlines() if line.startswith("dlcheck-train")))

    # G19

    def test_connections_that_are_made_late_do_not_outlive_a_dead_rank(self):
        lazily = {rank: {"TORCH_GLOO_LAZY_INIT": "1"} for rank in range(3)}
        self.start_ranks(3, *SLOW, of_rank=lazily)
        self.await_step(15)
        self.hit(1, signal.SIGKILL)
        ended = self.finish(8)
        self.assert_others_name(ended, 1, "is gone")
        self.row("G19", "SIGKILL of rank 1 of 3, lazy connections", ended, ended.errors[0])

    # A full disk, a clock that jumps, a signal to one.

    def test_a_full_disk_on_one_rank_is_named_and_what_was_saved_stays(self):
        self.start_ranks(2, "--steps", 10)
        self.finish(30)
        self.started.clear()
        # A library that lets a write fail, beside the real limit on the size of a file.
        limits = {"disk": ([], {"LD_PRELOAD": FAILING, "FAIL_UNDER": self.checkpoints,
                                "FAIL_CALLS": "write", "FAIL_AT": "1"}),
                  "file": (["sh", "-c", 'ulimit -f 1; exec "$@"', "sh"], {})}
        for name, (words, variables) in limits.items():
            with self.subTest(limit=name):
                self.started.clear()
                self.start_ranks(2, "--steps", 20, "--resume", before={1: words},
                                 of_rank={1: variables})
                ended = self.finish(30)
                self.assertEqual(ended.statuses, [1, 1], ended.said)
                self.assertIn("dlcheck-train: no checkpoint at step 20: rank 1: ", ended.errors[0])
                line = ended.errors[0].splitlines()[0]
                self.row("disk", f"no room for rank 1 of 2 ({name})", ended, line)
        self.assertEqual(os.listdir(self.checkpoints).count("step-000000010"), 1)
        self.assert_resumes(2)

    def test_a_full_file_system_is_said_and_what_was_saved_stays(self):
        if os.geteuid() != 0:
            self.skipTest("a file system of its own needs root")
        self.checkpoints.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", self.checkpoints],
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            self.skipTest(f"no file system can be mounted: {made.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", self.checkpoints], check=True)
        self.start_ranks(2, "--steps", 60, "--width", 128, "--optimizer", "adam", "--keep-last", 9)
        ended = self.finish(60)
        self.assertEqual(ended.statuses, [1, 1], ended.said)
        line = ended.errors[0].splitlines()[0]
        self.assertIn("No space left on device", line)
        self.row("disk", "the file system of the checkpoints is full", ended, line)
        self.started.clear()
        self.start_supervised(2, "--width", 128, "--optimizer", "adam", "--resume", "--steps", 1)
        self.assertIn("but the checkpoint has", self.finish(60).said)

    def test_a_clock_that_jumps_a_year_ends_no_run(self):
        trouble = {"LD_PRELOAD": TROUBLE, "RANK_TROUBLE": "clock"}
        self.start_ranks(2, *SLOW, of_rank={0: trouble, 1: trouble})
        self.await_step(15)
        time.sleep(6)
        for process in self.started:
            process.terminate()
        ended = self.finish(20)
        self.assertEqual((ended.statuses, ended.said), ([-signal.SIGTERM] * 2, ""))
        self.row("clock", "the time of day jumps a year, to and fro, for 6 s", ended,
                 "none: the run goes on")
        self.assert_resumes(2)

    def test_sigterm_to_one_rank_saves_and_stops_all(self):
        self.start_ranks(3, *SLOW, "--checkpoint-every", 0)
        self.await_step(15)
        self.hit(1, signal.SIGTERM)
        ended = self.finish(20)
        self.assertEqual((ended.statuses, ended.said), ([0, -signal.SIGTERM, 0], ""))
        self.assertIn("stopped at step", ended.outs[0])
        self.row("SIGTERM", "SIGTERM to rank 1 of 3", ended, ended.outs[0].splitlines()[-1])
        self.assert_resumes(3)


if __name__ == "__main__":
    unittest.main()

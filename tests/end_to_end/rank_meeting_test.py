"""Ranks that do not come together: each that is there says in one line why, and ends.

Ends with the table of faults.
"""

import signal
import socket
import time
import unittest

from rank_runs import LONG, LOST, RankTest, free_port, print_rows
from support import BUILD, TRAINER

SHORT = ("--steps", 4)
DATA = ("--data", BUILD / "share" / "dlcheck" / "fixtures" / "digits.h5")
UNSAVED = ("--checkpoints", "", "--checkpoint-every", 0)


def tearDownModule():
    print_rows()


class Meeting(RankTest):
    def assert_all_say(self, ended, status, *parts):
        for code, error in zip(ended.statuses, ended.errors):
            self.assertEqual(code, status, error)
            self.assert_one_line(error, *parts)

    # G05

    def test_a_rank_that_does_not_come_is_named(self):
        for missing in (1, 2):
            with self.subTest(rank=missing):
                self.started.clear()
                there = [rank for rank in range(3) if rank != missing]
                self.start_ranks(3, *SHORT, "--rendezvous-timeout", 3, ranks=there)
                ended = self.finish(6)
                self.assert_all_say(ended, LOST, f"rank {missing} did not come within rendezvous-timeout",
                                    "2 of 3 ranks did")
                self.row("G05", f"rank {missing} of 3 is not started", ended, ended.errors[0])

    def test_a_first_rank_that_does_not_come_is_named(self):
        self.start_ranks(3, *SHORT, "--rendezvous-timeout", 3, ranks=[1, 2])
        ended = self.finish(6)
        self.assert_all_say(ended, LOST, "rank 0 is not found at 127.0.0.1:", "rendezvous-timeout")
        self.row("G05", "rank 0 of 3 is not started", ended, ended.errors[0])

    # G06

    def test_a_rank_that_comes_twice_is_refused_by_all(self):
        self.start_ranks(3, *SHORT, ranks=[0, 1, 1])
        ended = self.finish(5)
        self.assert_all_say(ended, 2, "rank 1 came twice: process ")
        self.row("G06", "rank 1 of 3 is started twice", ended, ended.errors[0])

    def test_a_rank_that_comes_again_later_does_not_end_those_that_train(self):
        port = free_port()
        self.start_ranks(2, "--steps", LONG, port=port)
        self.await_step(5)
        self.start_ranks(2, *SHORT, port=port, ranks=[1])
        self.started[2].wait(timeout=10)
        self.assert_one_line(self.text_of(self.started[2], 1), "rank 1 came twice")
        step = self.step()
        self.await_step(step + 10)
        for process in self.started[:2]:
            process.terminate()
        self.assertEqual(self.finish(20).statuses, [-signal.SIGTERM] * 2 + [2])

    def test_a_first_rank_that_comes_twice_is_refused(self):
        port = free_port()
        self.start_ranks(2, "--steps", LONG, port=port)
        self.await_step(5)
        self.start_ranks(2, *SHORT, port=port, ranks=[0])
        begin = time.monotonic()
        self.started[2].wait(timeout=10)
        seconds = time.monotonic() - begin
        error = self.text_of(self.started[2], 1)
        self.assert_one_line(error, "rank 0: rank 0 came twice: process ", f"127.0.0.1:{port} already")
        self.await_step(self.step() + 10)
        for process in self.started[:2]:
            process.terminate()
        ended = self.finish(20)
        self.assertEqual(ended.statuses, [-signal.SIGTERM] * 2 + [2])
        ended.seconds = seconds
        self.row("G06", "rank 0 of 2 is started again while it trains", ended, error)

    def test_ranks_that_were_told_of_other_numbers_of_ranks_are_refused(self):
        self.start_ranks(3, *SHORT, told={2: 4})
        ended = self.finish(10)
        self.assert_all_say(ended, 2, "ranks, but others are of ")
        self.row("G06", "rank 2 of 3 was told of 4", ended, ended.errors[0])

    # G07

    def test_a_taken_port_is_named(self):
        with socket.socket() as taken:
            taken.bind(("0.0.0.0", 0))
            taken.listen()
            self.start_ranks(2, *SHORT, "--rendezvous-timeout", 3, port=taken.getsockname()[1])
            ended = self.finish(15)
        self.assertEqual(ended.statuses, [LOST, LOST], ended.said)
        self.assert_one_line(ended.errors[0], "cannot meet at 127.0.0.1:", "address already in use")
        self.assert_one_line(ended.errors[1], "is not rank 0: it does not answer as one")
        self.row("G07", "the port is taken (rank 0)", ended, ended.errors[0])
        self.row("G07", "a listener that never answers (rank 1)", ended, ended.errors[1])

    # G16

    def test_a_run_at_the_port_of_an_earlier_one_is_a_run_of_its_own(self):
        port = free_port()
        for _ in range(3):
            self.started.clear()
            self.start_ranks(2, *SHORT, *UNSAVED, port=port)
            ended = self.finish(30)
            self.assertEqual((ended.statuses, ended.said), ([0, 0], ""))
        self.started.clear()
        self.start_ranks(2, "--steps", LONG, port=port)
        self.await_step(5)
        for process in self.started:
            process.kill()
            process.wait()
        self.started.clear()
        begin = time.monotonic()
        self.start_ranks(2, *SHORT, *UNSAVED, port=port)
        ended = self.finish(30)
        self.assertEqual((ended.statuses, ended.said), ([0, 0], ""))
        ended.seconds = time.monotonic() - begin
        self.row("G16", "the port of a run that was killed a moment ago", ended,
                 "none: the run ends well")

    def test_ranks_do_not_join_what_an_earlier_run_has_left(self):
        port = free_port()
        self.start_ranks(2, "--steps", LONG, port=port)
        self.await_step(5)
        for rank in range(2):
            self.hit(rank, signal.SIGSTOP)
        self.start_ranks(2, *SHORT, "--rendezvous-timeout", 3, port=port)
        ended = self.finish(15, except_for=[0, 1])
        self.assertEqual(ended.statuses, [-signal.SIGKILL] * 2 + [LOST] * 2, ended.said)
        self.assert_one_line(ended.errors[2], "address already in use")
        self.assert_one_line(ended.errors[3], "does not answer")
        self.row("G16", "the run before is stopped and holds the port", ended, ended.errors[2])

    # G18

    def test_another_recipe_other_data_or_another_program_is_refused(self):
        data = self.folder / "other.csv"
        data.write_text("".join(f"{i % 10},{i % 7},{i % 3}\n" for i in range(200)))
        program = self.folder / "dlcheck-train"
        program.write_bytes(TRAINER.read_bytes() + b"other")
        program.chmod(0o755)
        cases = {
            "lr": ({"flags_of": {1: ["--lr", "0.3"]}}, "rank 1 has lr 0.3, but rank 0 has lr"),
            "data": ({"flags_of": {1: ["--data", data]}}, "rank 1 has data "),
            "program": ({"programs": {1: program}, "flags_of": dict.fromkeys((0, 1), DATA)}, "rank 1 has program "),
        }
        for name, (other, line) in cases.items():
            with self.subTest(of=name):
                self.started.clear()
                self.start_ranks(2, *SHORT, **other)
                ended = self.finish(10)
                self.assert_all_say(ended, 2, line)
                self.row("G18", f"rank 1 of 2 has another {name}", ended, ended.errors[0])


if __name__ == "__main__":
    unittest.main()

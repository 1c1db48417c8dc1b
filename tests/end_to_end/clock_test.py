"""Somebody sets the wall clock while a program is watched: deadlines and durations go by the monotonic clock.
live_test.py has the same of findings."""

import sys
import unittest

from support import BUILD, SOURCE, EndToEnd, preloads

RECORDING = SOURCE / "tests/end_to_end/recording.py"
DAY = 86400


@preloads
class Clock(EndToEnd):
    def watch(self, jump, *options, steps=30):
        """A healthy run of a second and a half."""
        program = (sys.executable, RECORDING, steps, "--healthy", "--pause", "0.05")
        return self.run_command(*program, options=options, LD_PRELOAD=str(BUILD / "tests/libjumping_clock.so"),
                                JUMP_SECONDS=str(jump))  # fmt: skip

    def test_a_clock_that_is_put_forward_ends_no_program_at_its_deadline(self):
        process = self.watch(DAY, "--timeout", "60")
        self.assertEqual((process.returncode, process.stdout), (0, "30 steps\n"), process.stderr)

    def test_a_deadline_holds_where_the_clock_is_put_back(self):
        process = self.watch(-DAY, "--timeout", "1", steps=400)
        self.assertEqual(process.returncode, 124, process.stderr)

    def test_durations_are_those_of_the_run(self):
        for jump in (DAY, -DAY):
            with self.subTest(jump=jump):
                self.watch(jump)
                self.assertGreater(self.result()["volatile"]["wall_seconds"], 1)
                self.assertLess(self.result()["volatile"]["wall_seconds"], 60)


if __name__ == "__main__":
    unittest.main()

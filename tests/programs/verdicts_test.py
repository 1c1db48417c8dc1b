"""The comparison of ci/benchmark-verdicts still runs, and says what is known of four programs."""

import re
import subprocess
import sys
import unittest

from watching import SOURCE, environment

BY_HAND = SOURCE / "tests/benchmarks/verdicts/by_hand.py"
PROGRAMS = ("missing zero_grad", "clip before unscale", "loss not divided", "scaled, seed 11")


class Verdicts(unittest.TestCase):
    def test_three_faults_are_found_and_a_healthy_program_raises_no_alarm(self):
        process = subprocess.run(
            [sys.executable, SOURCE / "ci/benchmark-verdicts", "--no-deep", "--only", *PROGRAMS],
            capture_output=True, text=True, timeout=300, env=environment())
        self.assertEqual(process.returncode, 0, process.stderr)
        missing, clipped, undivided, healthy = process.stdout.splitlines()[2:6]
        self.assertRegex(missing, r"\| a step clears .* \| error optimizer/stale_gradients \w+\.py:\d+ \|")
        self.assertRegex(clipped, r"\| - \| error precision/clip_before_unscale \w+\.py:\d+ \|")
        self.assertRegex(undivided, r"\| - \| note training_loop/unscaled_accumulation \w+\.py:\d+ \|")
        self.assertEqual(healthy, "| scaled, seed 11 | - | - |")
        self.assertIn("found (by more than a note) 1 of 3 (1), 3 of 3 (2); "
                      "alarms on clean runs: 0 of 1 (0), 0 of 1 (0);", process.stdout)

    def test_the_checks_by_hand_have_eighteen_lines(self):
        checks = BY_HAND.read_text().partition("\ndef ")[2]
        self.assertEqual(len(re.findall(r"^.*\S", checks, re.MULTILINE)), 18)


if __name__ == "__main__":
    unittest.main()

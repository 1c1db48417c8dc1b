"""ci/mildest still plants, bisects and prints, and a trial is as sharp as its check says."""

import subprocess
import unittest

from watching import PYTHON, SOURCE, environment


class Mildest(unittest.TestCase):
    def test_a_faint_leak_of_the_future_is_caught_and_a_fainter_one_is_not(self):
        process = subprocess.run([PYTHON, "-W", "ignore", SOURCE / "ci/mildest", "future", "packed"],
                                 capture_output=True, text=True, timeout=300, env=environment())
        self.assertEqual(process.returncode, 0, process.stderr)
        for trial, check in (("future", "causal_mask_leak"), ("packed", "cross_document_attention")):
            line = next(line for line in process.stdout.splitlines() if line.startswith(f"| {trial} "))
            cells = line.strip("| ").split(" | ")
            self.assertEqual(cells[1], f"attention/{check}")
            caught, missed, measured, bound = map(float, cells[3:])
            self.assertLess(caught, 1e-5)
            self.assertLess(missed, caught)
            self.assertAlmostEqual(measured / bound, 1, delta=0.2)

    def test_an_unknown_trial_is_refused(self):
        process = subprocess.run([PYTHON, SOURCE / "ci/mildest", "past"], capture_output=True, text=True,
                                 timeout=300, env=environment())
        self.assertEqual(process.returncode, 2)
        self.assertIn("future", process.stdout)


if __name__ == "__main__":
    unittest.main()

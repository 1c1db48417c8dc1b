"""Which checks are judged, and what exit code says that none was, or that a required one could not be."""

import pathlib
import sys
import unittest

from support import EndToEnd

RECORDING = pathlib.Path(__file__).with_name("recording.py")


class Selection(EndToEnd):
    def run_recording(self, *options):
        return self.run_command(sys.executable, RECORDING, 20, "--healthy", options=options)

    def test_an_empty_selection_exits_5(self):
        process = self.run_recording("--ignore", "*")
        self.assertEqual(process.returncode, 5, process.stderr)
        self.assertIn("no check is selected", process.stderr)

    def test_a_number_that_is_not_positive_is_refused_in_one_short_line(self):
        for option in ("--samples", "--steps"):
            process = self.run_recording(option, "0")
            self.assertEqual(process.returncode, 2, process.stderr)
            self.assertIn(f"{option}: '0' is no number above 0", process.stderr)
            self.assertLess(len(process.stderr), 100)

    def test_a_required_check_of_accelerators_exits_4_without_one(self):
        process = self.run_recording("--require", "performance/host_device_sync")
        self.assertEqual(process.returncode, 4, process.stderr)
        self.assertEqual(self.check("performance/host_device_sync")["outcome"], "not_observed")
        self.assertEqual(self.result()["exit"]["reason"], "a required check reached no verdict")


if __name__ == "__main__":
    unittest.main()

"""Faults planted in Python programs of three different shapes are found first, and the healthy programs
pass every check with every experiment."""

import sys
import unittest

from support import DIGITS, PROGRAMS, SOURCE, TORCH_PYTHON, EndToEnd

sys.path.insert(0, str(SOURCE))
from tests.observe.plant import PLANTS, planted  # noqa: E402


class PythonHosts(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_torch()

    def watch(self, program, *options):
        return self.run_command(TORCH_PYTHON, program, DIGITS, options=options)

    def healthy(self, name):
        process = self.watch(PROGRAMS / f"digits_{name}.py", "--deep", "--fail-on", "warning")
        self.assertEqual(process.returncode, 0, process.stderr)
        outcomes = {check["id"]: check["outcome"] for check in self.result()["checks"]}
        self.assertNotIn("failed", outcomes.values(), process.stderr)
        for check in ("start/wrong_initial_loss", "capacity/unfittable_batch",
                      "capacity/input_independence", "reproducibility/seed_drift"):
            self.assertEqual(outcomes[check], "passed", process.stderr)

    def test_the_plain_loop_is_healthy(self):
        self.healthy("plain")

    def test_the_program_of_closures_is_healthy(self):
        self.healthy("closures")

    def test_the_class_based_trainer_is_healthy(self):
        self.healthy("trainer")

    def test_every_planted_fault_is_found_first(self):
        for host, plants in PLANTS.items():
            for check in plants:
                with self.subTest(host=host, check=check):
                    program = self.folder / f"{host}.py"
                    program.write_text(planted(host, check))
                    deep = ["--deep"] if check.startswith("capacity/") else []
                    deep += ["--fail-on", "warning"] if check.startswith("start/") else []
                    process = self.watch(program, *deep)
                    self.assertEqual(process.returncode, 1, process.stderr)
                    self.assertEqual(self.first_of_training(), check, process.stderr)

    def first_of_training(self):
        """The first cause; that a broken program misses its own score is a symptom that it asserts."""
        causes = [cause["id"] for cause in self.result()["order"]]
        return next((cause for cause in causes if cause != "program/failed"), "program/failed")


if __name__ == "__main__":
    unittest.main()

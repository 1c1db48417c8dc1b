"""Faults planted in Python programs of three different shapes are found first, and the healthy programs
pass every check with every experiment: one of the programs and one in 48 of the
faults, drawn by the commit."""

import unittest

from support import DIGITS, PROGRAMS, TORCH_PYTHON, EndToEnd, drawn
from watching import python

from tests.observe.plant import PLANTS, planted


class PythonHosts(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_torch()

    def watch(self, program, *options):
        start = [TORCH_PYTHON] if "--deep" in options else python()  # experiments need a Python of their own
        return self.run_command(*start, program, DIGITS, options=options)

    def healthy(self, name):
        process = self.watch(PROGRAMS / f"digits_{name}.py", "--deep", "--fail-on", "warning")
        self.assertEqual(process.returncode, 0, process.stderr)
        outcomes = {check["id"]: check["outcome"] for check in self.result()["checks"]}
        self.assertEqual(self.found(), [], process.stderr)
        for check in ("initialization/wrong_initial_loss", "learnability/cannot_overfit_one_batch",
                      "learnability/input_independence", "reproducibility/nondeterministic_training"):
            self.assertEqual(outcomes[check], "passed", process.stderr)

    def test_one_of_the_programs_is_healthy(self):
        for name in drawn(sorted(PLANTS), len(PLANTS)):
            self.healthy(name)

    def test_some_of_the_planted_faults_are_found_first(self):
        for host, check in drawn([(host, check) for host, plants in PLANTS.items() for check in plants], 48):
            with self.subTest(host=host, check=check):
                program = self.folder / f"{host}.py"
                program.write_text(planted(host, check))
                deep = ["--deep"] if check.startswith("learnability/") else []
                deep += ["--fail-on", "warning"] if check.startswith("initialization/") else []
                process = self.watch(program, *deep)
                self.assertEqual(process.returncode, 1, process.stderr)
                self.assertEqual(self.first_of_training(), check, process.stderr)

    def first_of_training(self):
        """The first cause; that a broken program misses its own score is a symptom that it asserts."""
        causes = [cause["id"] for cause in self.result()["order"]]
        return next((cause for cause in causes if cause != "program/failed"), "program/failed")


if __name__ == "__main__":
    unittest.main()

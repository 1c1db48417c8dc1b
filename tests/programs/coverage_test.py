"""docs/coverage.md says what the planted faults prove today."""

import subprocess
import sys
import unittest

import framework_plants  # noqa: F401
import rank_plants  # noqa: F401
from plants import FAULTS
from rows import NO_VERDICT, ROWS, TRAINER
from watching import SOURCE

PAGE, FAULTS_PAGE = SOURCE / "docs/coverage.md", SOURCE / "docs/faults.md"


class Coverage(unittest.TestCase):
    def test_the_page_is_the_one_that_these_faults_make(self):
        done = subprocess.run([sys.executable, SOURCE / "ci/coverage", "--check"], check=False)
        self.assertEqual(done.returncode, 0, "run ci/coverage")

    def test_each_row_that_is_named_is_a_fault_of_the_page(self):
        text = FAULTS_PAGE.read_text()
        for said in [*ROWS.values(), *TRAINER.values(), *NO_VERDICT]:
            for name in (said,) if isinstance(said, str) else said:
                self.assertIn(f"| `{name}` |", text)

    def test_each_planted_fault_that_is_named_is_planted(self):
        self.assertEqual(set(ROWS) - set(FAULTS), set())
        lines = (SOURCE / "tests/golden/fault_matrix.txt").read_text().splitlines()
        self.assertEqual(set(TRAINER) - {line.split("\t")[0] for line in lines}, set())


if __name__ == "__main__":
    unittest.main()

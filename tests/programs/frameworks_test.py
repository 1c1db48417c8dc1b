"""Two programs of frameworks, watched: one is healthy, in the other a callback clears the gradients."""

import json
import pathlib
import tempfile
import unittest

import check_faults
import check_frameworks
import check_healthy
from watching import FOLDER, PYTHON, SOURCE

FRAMEWORKS = SOURCE / "build-frameworks/bin/python"


@unittest.skipUnless(FRAMEWORKS.exists(), "ci/frameworks was not run: no environment with frameworks")
class Frameworks(unittest.TestCase):
    def setUp(self):
        for module in (check_faults, check_frameworks):
            module.PYTHON = FRAMEWORKS
            self.addCleanup(setattr, module, "PYTHON", PYTHON)

    def test_a_healthy_program_is_quiet(self):
        _, problems, result = check_frameworks.run_healthy("Lightning", "lightning_digits")
        self.assertEqual(problems, [])
        self.assertGreater(result["exit"]["counts"]["passed"], 40)

    def test_numbers_that_the_program_logs_are_in_the_series(self):
        with tempfile.TemporaryDirectory() as folder:
            check_healthy.judged([FRAMEWORKS, "-W", "ignore", FOLDER / "frameworks/lightning_digits.py"], folder)
            drawn = json.loads(pathlib.Path(folder, "out/series.json").read_text())["series"]
        metrics = {series["thing"]: series["samples"] for series in drawn if series["quantity"] == "metric"}
        self.assertEqual(metrics, {"loss": 300, "accuracy": 26, "validation_loss": 26})

    def test_a_callback_that_clears_gradients_is_found(self):
        self.assertIsNone(check_faults.run("trainer_callback_clears", "trainer_tagger"))


if __name__ == "__main__":
    unittest.main()

"""Two programs of frameworks, watched: one is healthy, in the other a callback clears the gradients."""

import unittest

import check_faults
import check_frameworks
from watching import PYTHON, SOURCE

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

    def test_a_callback_that_clears_gradients_is_found(self):
        self.assertIsNone(check_faults.run("trainer_callback_clears", "trainer_tagger"))


if __name__ == "__main__":
    unittest.main()

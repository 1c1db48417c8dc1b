"""Programs with loops of their own: a C++ program with the probe, and how a plain run is cut short."""

import unittest

from support import BUILD, DIGITS, PROGRAMS, TORCH_PYTHON, EndToEnd

CPP_LOOP = BUILD / "tests" / "cpp_loop"


class OwnLoop(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_trainer()
        self.require_torch()

    def test_a_healthy_cpp_loop_has_no_findings(self):
        process = self.run_command(CPP_LOOP, DIGITS)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("no findings", process.stderr)

    def test_a_cpp_loop_is_run_twice_with_one_seed_and_says_what_it_cannot_be(self):
        process = self.run_command(CPP_LOOP, DIGITS, options=["--deep"])
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(self.check("reproducibility/nondeterministic_training")["outcome"], "passed")
        self.assertEqual(self.check("learnability/input_independence")["outcome"], "not_applicable")

    def test_its_missing_clearing_is_found_at_its_line(self):
        process = self.run_command(CPP_LOOP, DIGITS, "--fault", "gradients_not_cleared")
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertEqual(self.result()["order"][0]["id"], "optimizer/stale_gradients")
        place = self.check("optimizer/stale_gradients")["findings"][0]["places"][0]
        self.assertTrue(place["file"].endswith("cpp_loop.cc"), place)

    def test_a_plain_run_ends_after_the_steps_that_were_asked_for(self):
        for program in ([TORCH_PYTHON, PROGRAMS / "digits_plain.py", DIGITS], [CPP_LOOP, DIGITS]):
            with self.subTest(program=program):
                process = self.run_command(*program, options=["--steps", "50"])
                self.assertEqual(process.returncode, 0, process.stderr)
                self.assertEqual(self.result()["coverage"]["steps"], 50)
                self.assertEqual(self.result()["runs"][0]["ended"], "stopped")


if __name__ == "__main__":
    unittest.main()

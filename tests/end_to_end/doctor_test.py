"""`dlcheck doctor`: tries itself on a small program, and says what is missing."""

import os
import unittest

from support import TORCH_PYTHON, EndToEnd


class Doctor(EndToEnd):
    def wrapped(self, *options):
        """A Python with torch that is started with these options."""
        script = self.folder / "python"
        script.write_text(f'#!/bin/sh\nexec {TORCH_PYTHON} {" ".join(options)} "$@"\n')
        script.chmod(0o755)
        return script

    def examine(self, python, code):
        process = self.dlcheck("doctor", python)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        return " ".join(process.stdout.split())

    def test_a_python_with_torch_is_tried_by_training(self):
        self.require_torch()
        text = self.examine(TORCH_PYTHON, 0)
        self.assertIn("was watched from its first to its last step", text)
        self.assertRegex(text, r"Python 3\.\d+\.\d+, torch \d")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_python_that_passes_the_probe_over_is_told(self):
        self.require_torch()
        self.assertIn("error a small training program of 3 steps was started, and 0 were recorded",
                      self.examine(self.wrapped("-I"), 1))  # fmt: skip

    def test_a_python_without_torch_is_told(self):
        self.require_torch()
        self.assertIn("which cannot import torch", self.examine(self.wrapped("-S"), 1))

    def test_what_is_no_python_is_told(self):
        for program in ("/bin/true", self.folder / "missing"):
            self.assertIn("does not start as a Python", self.examine(program, 1))


if __name__ == "__main__":
    unittest.main()

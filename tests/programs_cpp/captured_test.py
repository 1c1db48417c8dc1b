"""An unchanged C++ program with --capture: it prints the same, and its batches are kept for `dlcheck reference`."""

import json
import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ.get("DLCHECK_BUILD", Path(__file__).parents[2] / "build"))
PROGRAM = BUILD / "tests" / "programs_cpp" / "unchanged_programs"
SIZES = {"float32": 4, "int64": 8}


def lines_of(file):
    """The lines of a capture; each tensor has its bytes."""
    head, rest = file.read_bytes().split(b"\n", 1)
    assert head == b"dlcheck capture 1"
    lines = []
    while rest:
        text, rest = rest.split(b"\n", 1)
        lines.append(json.loads(text))
        for name in ("x", "y") if "x" in lines[-1] else ():
            size = SIZES[lines[-1][name]["dtype"]]
            for extent in lines[-1][name]["shape"]:
                size *= extent
            lines[-1][name]["bytes"], rest = rest[:size], rest[size:]
    return lines


@unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
class Captured(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def call(self, *words):
        return subprocess.run(words, cwd=self.folder, capture_output=True, text=True, env=dict(os.environ, TMPDIR=self.folder))

    def captured(self, *program, steps="60"):
        """What the program printed, and the lines that were kept."""
        done = self.call(BUILD / "bin/dlcheck", "run", "--exit-code", "program", "--capture", steps, "--", PROGRAM, *program)
        self.assertEqual(done.returncode, 0, done.stderr)
        (file,) = self.folder.glob("dlcheck-out/runs/*/capture-*.batches")
        return done.stdout, lines_of(file)

    def reference(self):
        done = self.call(BUILD / "bin/dlcheck", "reference")
        return done, json.loads((self.folder / "dlcheck-out/reference.json").read_text())

    def test_a_classifier_prints_the_same_and_its_batches_are_those_of_its_loader(self):
        plain = self.call(PROGRAM, "digits").stdout
        printed, lines = self.captured("digits", steps="40")
        self.assertEqual(printed, plain)
        pieces = [line for line in lines if "x" in line]
        self.assertEqual([line["step"] for line in pieces], list(range(40)))
        self.assertEqual([line["x"]["shape"] for line in pieces], [[32, 1, 14, 14]] * 40)
        first = pieces[0]
        self.assertEqual((first["classes"], first["dropout"], first["class_weights"], first["further_terms"]),
                         (6, 0.5, False, False))  # fmt: skip
        self.assertEqual(first["optimizer"], {"name": "SGD", "lr": 0.05, "momentum": 0.5, "dampening": 0, "nesterov": False,
                                              "weight_decay": 0})  # fmt: skip
        # Of an epoch of 24 batches, every sample once.
        rows = {piece["x"]["bytes"][at : at + 784] for piece in pieces[:24] for at in range(0, 32 * 784, 784)}
        self.assertEqual(len(rows), 768)
        targets = {target for piece in pieces for target in struct.unpack("<32q", piece["y"]["bytes"])}
        self.assertEqual(targets, set(range(6)))
        self.assertGreater(lines[-1]["milliseconds"], 0)

    def test_a_classifier_that_learns_passes_and_one_without_a_rate_fails(self):
        self.captured("digits", steps="100")
        done, result = self.reference()
        self.assertEqual((done.returncode, result["severity"]), (0, "passed"), done.stdout)
        self.captured("digits", "zero_rate", steps="100")
        done, result = self.reference()
        self.assertEqual((done.returncode, result["severity"]), (1, "error"), done.stdout)
        self.assertIn("Likely cause: the optimizer", result["weak"])

    def test_tokens_have_a_target_each(self):
        _, lines = self.captured("writes", steps="20")
        first = lines[0]
        self.assertEqual(first["x"]["dtype"], "int64")
        self.assertEqual(first["x"]["shape"][0] * first["x"]["shape"][1], first["y"]["shape"][0])
        self.assertEqual(first["optimizer"]["name"], "AdamW")

    def test_a_term_beside_the_loss_is_known(self):
        _, lines = self.captured("numbers", steps="20")
        pieces = [line for line in lines if "x" in line]
        # Every second loss is by hand, which is no call of a function.
        self.assertEqual([line["step"] for line in pieces], list(range(1, 20, 2)))

    def test_nothing_is_kept_of_a_program_without_a_loss_over_targets(self):
        done = self.call(BUILD / "bin/dlcheck", "run", "--exit-code", "program", "--capture", "20", "--", PROGRAM, "adversaries")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(self.folder.glob("dlcheck-out/runs/*/capture-*.batches")), [])
        self.assertEqual(self.call(BUILD / "bin/dlcheck", "reference").returncode, 2)


if __name__ == "__main__":
    unittest.main()

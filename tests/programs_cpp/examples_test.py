"""Programs as tutorials of LibTorch show them are watched as they are: they print the same and write the same files,
every optimizer step is counted, and nothing is found."""

import hashlib
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ.get("DLCHECK_BUILD", Path(__file__).parents[2] / "build"))
PROGRAM = BUILD / "tests" / "programs_cpp" / "example_programs"
# How many optimizer steps each program takes.
STEPS = {
    "actor_critic": 120, "captioning": 60, "custom_dataset": 80, "dcgan": 100, "feedforward": 80, "language_model": 120,
    "linear_regression": 60, "logistic_regression": 60, "mnist": 120, "recurrent": 75, "regression": 287, "residual": 60,
    "style_transfer": 120, "transfer_learning": 200, "variational_autoencoder": 60,
}  # fmt: skip
TRAINS_NOTHING = "autograd"
# LibTorch names the state of parameters by their addresses there.
OPTIMIZERS = "*optimizer-checkpoint.pt"


def files_in(folder):
    others = set(folder.rglob("*")) - set(folder.rglob(OPTIMIZERS))
    return {path.relative_to(folder): hashlib.sha256(path.read_bytes()).digest() for path in others if path.is_file()}


def run(name, *before):
    """What the process was, and the files that it wrote."""
    with tempfile.TemporaryDirectory(prefix="dlcheck-test-") as folder:
        done = subprocess.run([*before, PROGRAM, name], capture_output=True, text=True, check=False, cwd=folder)
        return done, files_in(Path(folder))

# What the tutorial does in the same way.
# Pictures of MNIST's number are drawn from 300.
TRUE_NOTES = {"captioning": ["model/bias_before_norm"], "mnist": ["data/duplicated_samples"]}
# Episodes of actor_critic become longer, and so do its steps; how much, the machine decides.
BY_THE_CLOCK = "performance/step_time"


@unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
class Examples(unittest.TestCase):
    def watched(self, name):
        with tempfile.TemporaryDirectory(prefix="dlcheck-test-") as folder:
            done, files = run(name, BUILD / "bin" / "dlcheck", "run", "--output-dir", folder, "--")
            return done, files, json.loads((Path(folder) / "result.json").read_text())

    def test_all_are_listed_here(self):
        names = subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(set(names), {*STEPS, TRAINS_NOTHING})

    def test_print_and_write_the_same_and_nothing_is_found(self):
        for name, steps in STEPS.items():
            with self.subTest(program=name):
                alone, files = run(name)
                watched, files_watched, result = self.watched(name)
                self.assertEqual(alone.returncode, 0, alone.stderr)
                self.assertEqual((watched.returncode, watched.stdout), (0, alone.stdout), watched.stderr)
                self.assertEqual(files_watched, files)
                found = [check["id"] for check in result["checks"] for _ in check["findings"]
                         if not check["id"].startswith(BY_THE_CLOCK)]  # fmt: skip
                self.assertEqual(found, TRUE_NOTES.get(name, []), watched.stderr)
                self.assertEqual(result["coverage"]["steps"], steps)
                self.assertGreaterEqual(result["exit"]["counts"]["passed"], 25)

    def test_a_program_that_trains_nothing_is_not_called_clean(self):
        alone, _ = run(TRAINS_NOTHING)
        watched, _, _ = self.watched(TRAINS_NOTHING)
        self.assertEqual((watched.returncode, watched.stdout), (5, alone.stdout))
        self.assertRegex(watched.stderr, r"no training was observed(.|\n)*built no optimizer")


if __name__ == "__main__":
    unittest.main()

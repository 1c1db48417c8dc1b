"""What an unchanged C++ program shows only under an experiment: `dlcheck run --deep` replaces its data, its
optimizer or its learning rate, and names what follows. The same programs without a fault pass."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "programs"))
from drawing import drawn  # noqa: E402
from watching import allows_layers  # noqa: E402

BUILD = Path(os.environ.get("DLCHECK_BUILD", Path(__file__).parents[2] / "build"))
PROGRAM = BUILD / "tests" / "programs_cpp" / "unchanged_programs"
SOURCES = Path(__file__).parent / "unchanged"
FIT, INPUTS = "learnability/cannot_overfit_one_batch", "learnability/input_independence"
TARGETS, RATE = "data/inconsistent_targets", "optimizer/lr_independent_update"
NEIGHBORS, FUTURE = "model/cross_sample_leak", "attention/causal_mask_leak"
# Program, fault: the check, its severity, and the lines that it points to; None if it has none.
FAULTS = {
    ("mixes", "batch_mean"): (NEIGHBORS, "warning", {'if (arguments.Is("batch_mean")) x = x - x.mean(0, true);'}),
    ("mixes", "time_first"): (NEIGHBORS, "warning", {"x = std::get<0>(lstm->forward(x)).select(1, kSteps - 1);"}),
    ("mixes", "shrinks"): (RATE, "note", {"torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));"}),
    ("mixes", "zeroed_inputs"): (INPUTS, "error", None),
    ("mixes", "relu_on_logits"): (FIT, "error", None),
    ("digits", "shuffled_targets"): (TARGETS, "note", {"x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));",
                                                      "torch::Tensor loss = torch::nll_loss(model.forward(x, arguments.fault), y);"}),
    ("table_gpt", "mask_not_taken"): (FUTURE, "error", {"torch::Tensor mixed = torch::softmax(scores, axis).matmul(parts[2]);"}),
}  # fmt: skip
# Program: what it passes without a fault.
HEALTHY = {"mixes": (NEIGHBORS, RATE, INPUTS, FIT, TARGETS), "digits": (NEIGHBORS, RATE, INPUTS, FIT, TARGETS),
           "table_gpt": (FUTURE, RATE, FIT), "table_classifier": (NEIGHBORS, RATE, INPUTS, FIT)}  # fmt: skip


def run(folder, name, fault, checks, **variables):
    """What each check says of the program, and what was printed."""
    out = Path(folder) / "out"
    words = [PROGRAM, name, *([fault] if fault else [])]
    done = subprocess.run([BUILD / "bin" / "dlcheck", "run", "--deep", "--select", ",".join(checks), "--output-dir", out,
                           "--", *words], capture_output=True, text=True, check=False, cwd=folder,
                          env={**os.environ, **variables})  # fmt: skip
    return {check["id"]: check for check in json.loads((out / "result.json").read_text())["checks"]}, done


class Experiments(unittest.TestCase):
    def setUp(self):
        if not PROGRAM.exists() or not allows_layers():
            self.skipTest("no LibTorch, or no files of its own for an experiment")

    def test_a_fault_that_shows_under_an_experiment_alone_is_named(self):
        for (name, fault), (check, severity, expected) in drawn(list(FAULTS.items()), 3):
            with self.subTest(program=name, fault=fault), tempfile.TemporaryDirectory() as folder:
                checks, done = run(folder, name, fault, [check])
                (finding,) = checks[check]["findings"]
                self.assertEqual(finding["severity"], severity, done.stderr)
                lines = {next(SOURCES.rglob(Path(place["file"]).name)).read_text().split("\n")[place["line"] - 1].strip()
                         for place in finding["places"] if place.get("line")}  # fmt: skip
                if expected is not None:
                    self.assertEqual(lines, expected, done.stderr)

    def test_the_healthy_program_passes(self):
        for name, passed in drawn(list(HEALTHY.items()), 2):
            with self.subTest(program=name), tempfile.TemporaryDirectory() as folder:
                checks, done = run(folder, name, "", passed)
                self.assertEqual({check: checks[check]["outcome"] for check in passed},
                                 dict.fromkeys(passed, "passed"), done.stderr)  # fmt: skip

    def test_an_experiment_that_the_program_does_not_allow_says_why(self):
        reasons = {("own_optimizer", INPUTS): "an optimizer is none of LibTorch's, so its steps cannot be replaced",
                   ("table_gpt", INPUTS): "the inputs are not floating-point numbers, so they have no mean",
                   ("table_gan", NEIGHBORS): "more than one optimizer steps",
                   ("autoencoder", INPUTS): "the inputs reach the outputs on other ways than through a layer"}  # fmt: skip
        for (name, check), reason in drawn(list(reasons.items()), 2):
            with self.subTest(program=name), tempfile.TemporaryDirectory() as folder:
                checks, done = run(folder, name, "", [check])
                self.assertIn(checks[check]["outcome"], ("not_applicable", "not_observed"), done.stderr)
                self.assertIn(reason, checks[check]["reason"])


if __name__ == "__main__":
    unittest.main()

"""C++ programs that know nothing of dlcheck are watched as they are: what they print stays the same, healthy
ones are quiet, and faults are named with the line of the call."""

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
# Program, fault: the check that comes first, and the lines that it points to.
FAULTS = {
    ("norms", "bias_before"): ("model/bias_before_norm", "x = torch::relu(batch->forward(conv->forward(x)));"),
    ("norms", "large_epsilon"): ("model/large_norm_epsilon", "x = torch::relu(batch->forward(conv->forward(x)));"),
    ("norms", "two_samples"): ("model/batch_norm_tiny_batch",
        "x = torch::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false);"),
    ("norms", "tanh_twice"): ("model/repeated_activation",
        'if (arguments.Is("tanh_twice")) x = torch::tanh(x);'),
    ("norms", "norm_left_in_eval_mode"): ("model/initial_statistics",
        "x = torch::relu(batch->forward(conv->forward(x)));"),
    ("norms", "clipped_by_value"): ("gradients/clipped_by_value",
        'if (arguments.Is("clipped_by_value")) nn::utils::clip_grad_value_(net->parameters(), 0.01);'),
    ("accumulates", "not_zeroed"): ("optimizer/stale_gradients", "loss.backward();", "optimizer.step();"),
    ("accumulates", "not_divided"): ("training_loop/unscaled_accumulation",
        "loss.backward();"),
    ("accumulates", "divided_twice"): ("training_loop/doubly_divided_loss",
        "loss.backward();"),
    ("accumulates", "zeroed_in_window"): ("gradients/zeroed_before_step",
                                          'if (arguments.Is("zeroed_in_window")) optimizer.zero_grad();'),
    ("accumulates", "left_in_eval_mode"): ("training_loop/stuck_in_eval_mode",
        "net->eval();"),
    ("accumulates", "never_scheduled"): ("schedule/never_stepped",
        "torch::optim::StepLR schedule(optimizer, 40, 0.5);", "optimizer.step();"),
    ("adversaries", "generator_not_zeroed"): ("optimizer/stale_gradients", "loss.backward();"),
    ("adversaries", "generator_detached"): ("gradients/missing",
        "torch::binary_cross_entropy(real_output, real_labels).backward();"),
    ("measured", "middle_unregistered"): ("optimizer/untracked_parameters",
        "torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(3e-3));"),
    ("accumulates", "norm_by_function"): ("gradients/missing", "loss.backward();"),
    ("autoencoder", "unregistered"): ("optimizer/untracked_parameters",
        "torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(3e-3));"),
    ("digits", "over_batch"): ("model/softmax_over_batch",
        'if (fault == "over_batch") return torch::log_softmax(x, 0);'),
    ("digits", "unregistered"): ("optimizer/untracked_parameters",
        "torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(rate).momentum(0.5));"),
    ("resumes", "norm_by_function"): ("gradients/missing",
        "F::cross_entropy(net->forward(batch.x), batch.y).backward();"),
    ("autoencoder", "not_zeroed"): ("optimizer/stale_gradients", "loss.backward();", "adam.step();"),
    ("digits", "not_zeroed"): ("optimizer/stale_gradients", "loss.backward();", "optimizer.step();"),
    ("digits", "zeroed_before_step"): ("gradients/zeroed_before_step",
                                       'if (arguments.Is("zeroed_before_step")) optimizer.zero_grad();'),
    ("digits", "stepped_before_backward"): ("training_loop/step_before_backward",
                                            'if (arguments.Is("stepped_before_backward")) optimizer.step();'),
    ("digits", "never_stepped"): ("optimizer/never_stepped",
        'if (!arguments.Is("not_zeroed")) optimizer.zero_grad();', "loss.backward();"),
    ("digits", "detached"): ("gradients/missing",
        "loss.backward();"),
    ("digits", "negated"): ("training_loop/negated_loss",
        "loss.backward();"),
    ("digits", "shuffled_targets"): ("learnability/no_better_than_constant", "loss.backward();"),
    ("digits", "tests_in_train_mode"): ("evaluation/in_train_mode",
        'const torch::Tensor output = model.forward(batch.data, "");'),
    ("digits", "head_not_optimized"): ("optimizer/untracked_parameters",
        "torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(rate).momentum(0.5));"),
    ("digits", "zero_rate"): ("schedule/lr_is_zero",
        "torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(rate).momentum(0.5));"),
    ("digits", "huge_rate"): ("optimizer/lr_too_large",
        "torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(rate).momentum(0.5));"),
    ("digits", "trains_in_eval_mode"): ("training_loop/training_in_eval_mode",
        'if (arguments.Is("trains_in_eval_mode")) model.eval();'),
    ("digits", "raw_scores"): ("model/nll_without_log_softmax",
        "loss.backward();"),
    ("digits", "softmax_twice"): ("model/double_softmax",
        "loss.backward();"),
    ("digits", "tests_with_gradients"): ("evaluation/without_no_grad",
        'const torch::Tensor output = model.forward(batch.data, "");'),
    ("own_optimizer", "not_zeroed"): ("optimizer/stale_gradients",
        "loss.backward();"),
    ("resumes", "validates_in_train_mode"): ("evaluation/in_train_mode",
        "const torch::Tensor logits = net->forward(held_out.x);"),
    ("resumes", "built_before"): ("optimizer/stale_parameters",
        "torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(2e-3));"),
    ("writes", "shifted_twice"): ("data/shifted_targets",
        "loss.backward();"),
    ("writes", "clipped_to_nothing"): ("gradients/always_clipped",
        'nn::utils::clip_grad_norm_(gpt->parameters(), arguments.Is("clipped_to_nothing") ? 1e-6 : 1.0);'),
    ("writes", "mixed_heads"): ("model/reshape_swaps_axes", "x = x + out->forward(mixed.reshape({n, t, width}));"),
    ("pools", "along_batch"): ("model/swapped_batch_axis",
        "const torch::Tensor states = std::get<0>(gru(table(words)));"),
    ("pools", "mask_dropped"): ("program/discarded_result", "scores.masked_fill(padding, -1e9);"),
    ("pools", "losses_kept"): ("training_loop/graph_leak", "loss.backward();"),
    ("labels", "two_sigmoids"): ("model/double_softmax", "loss.backward();"),
    ("labels", "competing"): ("model/double_softmax", "loss.backward();"),
    ("labels", "same_batch"): ("data/repeated_batch",
        ": F::binary_cross_entropy_with_logits(scores, y);"),
    ("numbers", "row_by_hand"): ("model/broadcast_loss", "(loss - 0.001 * apart).backward();"),
    ("numbers", "row_by_function"): ("model/broadcast_loss", "(loss - 0.001 * apart).backward();"),
    ("plays", "old_of_scores"): ("training_loop/wrong_first_ratio",
        'const torch::Tensor ratio = torch::exp(now - old);'),
    ("plays", "old_computed_again"): ("training_loop/constant_ratio",
        'const torch::Tensor ratio = torch::exp(now - old);'),
    ("plays", "advantage_not_detached"): ("training_loop/advantage_with_gradient",
        'const torch::Tensor gain = torch::min(ratio * advantages, clipped * advantages).mean();'),
    ("encodes", "variance_for_deviation"): ("training_loop/log_variance_as_log_std",
        'if (arguments.Is("variance_for_deviation")) deviation = torch::exp(log_variance);'),
    ("weighs", "without_logarithms"): ("training_loop/unlimited_loss_weight",
        'loss.backward();'),
    ("continues", "sees_next"): ("attention/visible_next_token",
        'const torch::Tensor weights = torch::softmax(scores, -1);'),
    ("continues", "ignored_in_mean"): ("training_loop/ignored_targets_in_mean",
        'loss.backward();'),
    ("copies", "sees_padding"): ("attention/padding_without_mask",
        'const torch::Tensor weights = torch::softmax(scores, -1);'),
    ("copies", "inverted"): ("attention/inverted_padding_mask",
        'const torch::Tensor weights = torch::softmax(scores, -1);'),
    ("copies", "mean_over_padding"): ("training_loop/mean_over_padding",
        'loss.backward();'),
    ("balances", "weights_in_other_order"): ("training_loop/misordered_class_weights",
        'torch::Tensor scores = net->forward(x);'),
    ("distills", "teacher_in_other_order"): ("training_loop/misordered_teacher",
        'F::KLDivFuncOptions().reduction(torch::kBatchMean));'),
    ("distills", "logarithms_as_targets"): ("data/wrong_target_values",
        'F::KLDivFuncOptions().reduction(torch::kBatchMean));'),
    ("matches", "with_itself"): ("training_loop/own_pair_as_negative",
        'const torch::Tensor loss = torch::cross_entropy_loss(scores, others);'),
    ("marks", "along_places"): ("model/softmax_over_wrong_axis",
        'const torch::Tensor loss = torch::nll_loss_nd(torch::log_softmax(net->forward(x), axis), y);'),
    ("fits", "decay_by_hand"): ("optimizer/decay_in_gradients",
        'optimizer.step();'),
    ("fits", "weights_grow"): ("optimizer/growing_weights",
        'optimizer.step();'),
    ("fits", "precision_changed"): ("numerics/changed_matmul_precision",),
    ("fits", "raw_in_evaluation"): ("evaluation/different_target_scale",
        'last = torch::mse_loss(net->forward(held_out.x), wanted).item<double>();'),
    ("collects", "in_half_precision"): ("precision/low_precision_accumulation",
        'optimizer.step();'),
    ("collects", "labels_in_other_order"): ("evaluation/different_label_order",
        'std::printf("loss %.4f\\n", torch::cross_entropy_loss(scores, labels).item<double>());'),
}
# Faults that a note tells beside another one: the check, and the line of its finding.
NOTED = {
    ("denoises", "other_noise"): ("training_loop/unrelated_noise", 'const torch::Tensor loss = torch::mse_loss(net->forward(given), noise);'),
    ("balances", "weights_of_frequency"): ("training_loop/inverted_class_weights", 'torch::Tensor scores = net->forward(x);'),
    ("balances", "in_half_precision"): ("precision/half_precision_loss", 'loss.backward();'),
    ("distills", "teacher_with_gradient"): ("training_loop/target_with_gradient", 'F::KLDivFuncOptions().reduction(torch::kBatchMean));'),
}


def programs():
    return subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout.split()


def run(folder, *words, watched=True):
    out = Path(folder) / "out"
    before = [BUILD / "bin" / "dlcheck", "run", "--output-dir", out, "--exit-code", "program", "--"] if watched else []
    done = subprocess.run([*before, PROGRAM, *words], capture_output=True, text=True, check=False, cwd=folder,
                          env=dict(os.environ, TMPDIR=str(folder)))
    result = json.loads((out / "result.json").read_text()) if watched else None
    return done, result


@unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
class Unchanged(unittest.TestCase):
    def test_print_the_same_and_healthy_ones_are_quiet(self):
        for name in drawn(programs(), 3):
            with self.subTest(program=name), tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
                alone, _ = run(one, name, watched=False)
                watched, result = run(other, name)
                self.assertEqual((watched.returncode, watched.stdout), (alone.returncode, alone.stdout))
                loud = [check["id"] for check in result["checks"] for finding in check["findings"]
                        if finding["severity"] != "note"]
                self.assertEqual(loud, [], watched.stderr)
                self.assertGreater(result["coverage"]["steps"], 10)
                self.assertGreaterEqual(result["exit"]["counts"]["passed"], 15)

    def test_faults_are_named_first_with_the_line(self):
        for (name, fault), (check, *expected) in drawn(list(FAULTS.items()), 3):
            with self.subTest(program=name, fault=fault), tempfile.TemporaryDirectory() as folder:
                watched, result = run(folder, name, fault)
                self.assertEqual(result["order"][0]["id"], check, watched.stderr)
                self.has_lines(result, check, expected, watched)

    def test_faults_that_may_be_meant_are_noted_with_the_line(self):
        for (name, fault), (check, *expected) in drawn(list(NOTED.items()), 3):
            with self.subTest(program=name, fault=fault), tempfile.TemporaryDirectory() as folder:
                watched, result = run(folder, name, fault)
                self.assertIn(check, [found["id"] for found in result["checks"] if found["findings"]], watched.stderr)
                self.has_lines(result, check, expected, watched)

    def has_lines(self, result, check, expected, watched):
        findings = [finding for found in result["checks"] if found["id"] == check for finding in found["findings"]]
        places = [place for finding in findings for place in finding["places"]]
        lines = {(SOURCES / Path(place["file"]).name).read_text().split("\n")[place["line"] - 1].strip()
                 for place in places if place.get("line")}
        self.assertEqual(lines, set(expected), watched.stderr)
        for finding in findings:
            self.assertNotRegex(finding["fix"], r"torch\.[a-z]|model\.(eval|train)\(")


class StartedAgain(unittest.TestCase):
    """A program that goes on from its files: `--deep` interrupts it and starts it again."""

    FORGOTTEN = {"optimizer_not_loaded": "exp_avg of torch::optim::Adam", "statistics_reset": "buffers of NetImpl",
                 "rate_set_anew": "rates of torch::optim::Adam", "head_drawn_anew": "weights of torch::optim::Adam"}

    def resumed(self, *fault, **variables):
        """What the check says of the program, the files that it leaves, the report, and the runs that began."""
        with tempfile.TemporaryDirectory() as folder:
            work, out = Path(folder) / "work", Path(folder) / "out"
            work.mkdir()
            done = subprocess.run([BUILD / "bin" / "dlcheck", "run", "--deep", "--select", "checkpoint/inexact_resume",
                                   "--output-dir", out, "--", PROGRAM, "goes_on", *fault], capture_output=True,
                                  text=True, check=False, cwd=work, env={**os.environ, **variables})  # fmt: skip
            (check,) = (c for c in json.loads((out / "result.json").read_text())["checks"]
                        if c["id"] == "checkpoint/inexact_resume")
            began = {path.parent.parent.name for path in out.glob("runs/*/records/*")}
            return check, {path.name for path in work.iterdir()}, done.stderr, began

    def setUp(self):
        if not PROGRAM.exists() or not allows_layers():
            self.skipTest("no LibTorch, or no files of its own for an experiment")

    def test_nothing_is_found_where_all_comes_back(self):
        check, files, text, began = self.resumed()
        self.assertEqual(began, {"00-plain-0", "01-interrupted-0", "02-resumed-0"})
        self.assertEqual((check["outcome"], check["findings"]), ("passed", []), text)
        self.assertEqual(files, {"epoch.txt", "net.pt", "optimizer.pt"})

    def test_no_experiment_starts_where_it_would_write_over_the_files_of_the_program(self):
        failing = {"LD_PRELOAD": str(BUILD / "tests/libfailing_call.so"), "FAIL_IN": "dlcheck", "FAIL_CALLS": "unshare",
                   "FAIL_AT": "1", "FAIL_ALWAYS": "1"}  # fmt: skip
        check, _, text, began = self.resumed(**failing)
        self.assertEqual((check["outcome"], began), ("not_applicable", {"00-plain-0"}), text)

    def test_the_part_that_does_not_come_back_is_named_with_the_line_that_loads(self):
        source = (SOURCES / "goes_on.cc").read_text().split("\n")
        for fault, part in self.FORGOTTEN.items():
            with self.subTest(fault):
                check, _, text, _ = self.resumed(fault)
                (finding,) = check["findings"]
                self.assertEqual(finding["severity"], "warning")
                self.assertIn(part, [place.get("thing") for place in finding["places"]], text)
                lines = {source[place["line"] - 1].strip() for place in finding["places"] if place.get("line")}
                self.assertEqual(lines, {'torch::load(net, "net.pt");'})


class Others(unittest.TestCase):
    @unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
    def test_records_are_whole_however_a_program_ends_but_by_a_handler_of_a_signal(self):
        for words, status in ((("leaves_at_once",), 0), (("leaves_at_once", "_Exit"), 0),
                              (("leaves_at_once", "quick_exit"), 0), (("leaves_by_another_thread",), 0),
                              (("leaves_by_a_signal",), 5)):  # fmt: skip
            with self.subTest(words), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([BUILD / "bin" / "dlcheck", "run", "--output-dir", Path(folder) / "out", "--", PROGRAM,
                                       *words], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, status, done.stderr)

    @unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
    def test_steps_of_a_program_that_ends_unseen_are_said_to_be_at_least_so_many(self):
        with tempfile.TemporaryDirectory() as folder:
            done, result = run(folder, "leaves_at_once", "unseen")
            (finding,) = (f for check in result["checks"] if check["id"] == "program/failed" for f in check["findings"])
            self.assertRegex(finding["message"], r"exited with status 3 after at least \d+ optimizer steps")
            self.assertTrue(result["coverage"]["cut"])
            self.assertRegex(done.stderr, r"of at least \d+ steps")

    @unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
    def test_steps_of_rmsprop_and_adagrad_are_computed_again(self):
        for program in ("accumulates", "reads"):
            with self.subTest(program), tempfile.TemporaryDirectory() as folder:
                done, result = run(folder, program)
                (check,) = (check for check in result["checks"] if check["id"] == "optimizer/wrong_update")
                self.assertEqual((check["outcome"], check["findings"]), ("passed", []), done.stderr)

    @unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
    def test_a_launcher_may_come_before_and_two_variables_are_in_the_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            script = 'env > names; exec "$@"'
            done = subprocess.run([BUILD / "bin" / "dlcheck", "run", "--output-dir", "out", "--", "/bin/sh", "-c", script,
                                   "sh", PROGRAM, "norms"], capture_output=True, text=True, check=False,
                                  cwd=folder)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("no findings", done.stderr)
            names = {line.split("=")[0] for line in (Path(folder) / "names").read_text().splitlines()}
            self.assertLessEqual({"LD_PRELOAD", "DLCHECK_WORKERS"}, names)

    def test_a_program_without_libtorch_is_told_so_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([BUILD / "bin" / "dlcheck", "run", "--output-dir", Path(folder) / "out", "--",
                                   "/bin/true"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 5)
            self.assertIn("/bin/true is not linked with a shared LibTorch", done.stderr)


if __name__ == "__main__":
    unittest.main()

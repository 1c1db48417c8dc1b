"""C++ programs with loops of their own: the healthy ones raise no error and no warning and train to the
same bit with and without dlcheck, and each fault that is planted in them is found by its check.

One shape of each fault is drawn from the commit; DLCHECK_ALL_SHAPES=1 takes all.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DLCHECK_BUILD", ROOT / "build"))
PROGRAMS = BUILD / "tests" / "programs_cpp"
SHAPES = ("plain", "closures", "trainer")
HEALTHY = (*SHAPES, "ranks")

# Fault: the check that must find it, and the programs that can have it.
FAULTS = {
    "uncleared": ("optimizer/stale_gradients", SHAPES),
    "cleared_before_step": ("gradients/zeroed_before_step", SHAPES),
    "cleared_in_window": ("gradients/zeroed_during_accumulation", ("plain",)),
    "step_first": ("training_loop/step_before_backward", ("trainer",)),
    "retained": ("training_loop/retained_graph", SHAPES),
    "not_divided": ("training_loop/unscaled_accumulation", ("plain",)),
    "divided_twice": ("training_loop/doubly_divided_loss", ("plain",)),
    "clipped_late": ("gradients/clipped_after_step", ("plain", "trainer")),
    "never_scheduled": ("schedule/never_stepped", ("plain", "trainer")),
    "scheduled_first": ("schedule/stepped_before_optimizer", ("plain", "trainer")),
    "left_in_evaluation": ("training_loop/stuck_in_eval_mode", ("plain", "trainer")),
    "evaluated_in_training": ("evaluation/in_train_mode", ("plain", "trainer")),
    "evaluated_with_gradients": ("evaluation/without_no_grad", ("plain", "trainer")),
    "head_not_optimized": ("optimizer/untracked_parameters", SHAPES),
    "rebuilt": ("optimizer/recreated", ("plain", "closures")),
    "frozen_moves": ("optimizer/frozen_parameters_updated", ("trainer",)),
    "doubled_softmax": ("model/double_softmax", ("plain", "trainer")),
    "broadcast": ("model/broadcast_loss", ("closures",)),
    "nonfinite": ("numerics/nonfinite_values", ("closures",)),
    "detached_backbone": ("gradients/missing", ("trainer",)),
    "assigned_member": ("gradients/missing", ("closures", "trainer")),
    "guarded_backbone": ("gradients/missing", ("closures", "trainer")),
    "options_copied": ("schedule/wrong_lr", ("trainer",)),
    "buffers_not_saved": ("checkpoint/lossy_save", ("trainer",)),
    "biases_not_saved": ("checkpoint/lossy_save", ("plain",)),
    "copied_holder": ("optimizer/ema_copies_weights", ("closures", "trainer")),
    "own_start": ("distributed/unequal_initial_weights", ("ranks",)),
    "head_left_out": ("distributed/unsynchronized_gradients", ("ranks",)),
    "own_rate": ("distributed/replica_divergence", ("ranks",)),
    "other_order": ("distributed/collective_mismatch", ("ranks",)),
    "same_rows": ("distributed/same_data", ("ranks",)),
}
# Those that may be meant, and are told in a note.
NOTED = {"own_buffers": "distributed/different_buffers", "same_masks": "distributed/identical_dropout_masks"}


def shapes_of(fault):
    shapes = FAULTS[fault][1]
    if os.environ.get("DLCHECK_ALL_SHAPES"):
        return shapes
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                            check=False).stdout
    return random.Random(commit + fault).sample(shapes, 1)


class CppPrograms(unittest.TestCase):
    def setUp(self):
        if not (PROGRAMS / "plain").exists():
            self.skipTest("the programs were not built: no LibTorch was found")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dlcheck-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_words(self, *words):
        environment = {key: value for key, value in os.environ.items() if key != "DLCHECK_REQUEST"}
        return subprocess.run([*map(str, words)], cwd=self.folder, capture_output=True, text=True,
                              timeout=300, check=False, env={**environment, "OMP_NUM_THREADS": "1"})

    def watch(self, shape, *fault):
        """The finished process, and the result."""
        out = self.folder / "-".join((shape, *fault))
        process = self.run_words(BUILD / "bin" / "dlcheck", "run", "--output-dir", out, "--",
                                 PROGRAMS / shape, *fault)
        return process, json.loads((out / "result.json").read_text())

    def test_healthy_programs_have_no_error_and_no_warning(self):
        for shape in HEALTHY:
            with self.subTest(shape=shape):
                process, result = self.watch(shape)
                self.assertEqual(process.returncode, 0, process.stderr)
                loud = [(check["id"], finding["message"]) for check in result["checks"]
                        for finding in check["findings"] if finding["severity"] != "note"]
                self.assertEqual(loud, [])

    def test_watching_changes_no_bit(self):
        for shape in HEALTHY:
            with self.subTest(shape=shape):
                alone = self.run_words(PROGRAMS / shape)
                self.assertEqual(alone.returncode, 0, alone.stdout)
                self.assertIn("weights 0x", alone.stdout)
                self.assertEqual(self.watch(shape)[0].stdout, alone.stdout)

    def test_each_fault_is_found_by_its_check(self):
        for fault, (check, _) in FAULTS.items():
            for shape in shapes_of(fault):
                with self.subTest(fault=fault, shape=shape):
                    process, result = self.watch(shape, fault)
                    failed = [one["id"] for one in result["checks"] if one["outcome"] == "failed"]
                    self.assertIn(check, failed, process.stderr)

    def test_what_may_be_meant_is_noted(self):
        _, healthy = self.watch("ranks")
        for fault, name in NOTED.items():
            with self.subTest(fault=fault):
                process, result = self.watch("ranks", fault)
                for judged, severities in ((healthy, []), (result, ["note"])):
                    check = next(one for one in judged["checks"] if one["id"] == name)
                    self.assertEqual([f["severity"] for f in check["findings"]], severities,
                                     process.stderr)

    def test_what_a_fault_of_one_line_stands_at_is_a_line_of_the_program(self):
        _, result = self.watch("trainer", "uncleared")
        found = next(check for check in result["checks"] if check["id"] == "optimizer/stale_gradients")
        files = [place.get("file", "") for place in found["findings"][0]["places"]]
        self.assertTrue(files[0].endswith("trainer.cc"), files)


if __name__ == "__main__":
    unittest.main()

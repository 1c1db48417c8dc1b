"""Watching changes not one bit of the reference trainer: state files of watched and unwatched runs are
equal at every fifth step and at the end, while the watched runs record all that the probe can give."""

import hashlib
import re
import shutil
import subprocess
import sys
import unittest

from support import SOURCE, TRAINER, EndToEnd, drawn_tests, environment

sys.path.insert(0, str(SOURCE))
from tests.observe.reading import ProcessTrace  # noqa: E402

QUANTITIES = SOURCE / "checks" / "records" / "quantity.def"
ROW = re.compile(r'^DLCHECK_QUANTITY\(\w+, "(\w+)", \d+, "[^"]*", "(\w*)"', re.MULTILINE)


# Model and flags of runs that together have every mechanism of the trainer.
EVERYTHING = [
    ("mlp", "--fault", "gradients_not_cleared"),
    ("mlp", "--optimizer", "adamw", "--schedule", "cosine", "--warmup-steps", "4", "--autocast",
     "fp16", "--growth-interval", "5", "--initial-scale", "16777216", "--ema-decay", "0.9", "--gradient-clip-algorithm",
     "norm", "--gradient-accumulation-steps", "3", "--drop-last", "false", "--evaluate-every", "10"),
    ("resnet", "--autocast", "bf16", "--schedule", "one_cycle", "--evaluate-every", "10"),
    ("gpt", "--width", "16", "--depth", "2", "--heads", "2", "--context", "16", "--batch-size", "4",
     "--optimizer", "adamw", "--activation-checkpointing", "--evaluate-samples", "16"),
    ("mlp", "--weights", "bf16", "--optimizer", "adam", "--gradient-clip-algorithm", "adaptive"),
    ("resnet", "--nproc", "2", "--evaluate-every", "10"),
]
ONLY_IN_TRIALS = {"future_sensitivity"}


@drawn_tests(3)
class TrainerUnderWatch(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_trainer()

    def digest(self, arm, model, steps, *flags):
        """Of weights, optimizer state and random state after so many steps, and what was printed."""
        state = self.folder / arm / "state.safetensors"
        state.parent.mkdir(exist_ok=True)
        command = [TRAINER, "--model", model, "--dropout", "0.1", "--steps", str(steps),
                   "--save", state, *flags]
        if arm == "watched":
            process = self.run_command(*command, options=["--exit-code", "program"])
        else:
            process = subprocess.run(command, capture_output=True, text=True, check=False,
                                     env=environment())
        self.assertEqual(process.returncode, 0, process.stderr)
        return hashlib.sha256(state.read_bytes()).hexdigest(), process.stdout

    def same_bits(self, model, steps, *flags, fresh=None):
        """`fresh` is a folder that both arms find empty."""
        plain, plain_output = self.digest("unwatched", model, steps, *flags)
        if fresh:
            shutil.rmtree(fresh, ignore_errors=True)
        watched, watched_output = self.digest("watched", model, steps, *flags)
        self.assertEqual(plain, watched)
        self.assertEqual(plain_output, watched_output)

    def recorded(self):
        traces = map(ProcessTrace, self.out.glob("runs/*/records/*.records"))
        return {row.name for trace in traces for row in trace.rows if row.kind == "quantity"}

    def test_both_models_end_in_the_same_bits_and_print_the_same(self):
        for model in ("mlp", "resnet"):
            for steps in (*range(5, 61, 5), 300):
                with self.subTest(model=model, steps=steps):
                    self.same_bits(model, steps)

    def test_the_digest_sees_a_single_step(self):
        self.assertNotEqual(self.digest("unwatched", "mlp", 10)[0],
                            self.digest("unwatched", "mlp", 11)[0])

    def test_with_every_quantity_recorded_and_a_fault_caught_the_bits_are_the_same(self):
        marks = dict(ROW.findall(QUANTITIES.read_text()))
        self.assertTrue(all(marks.values()), "a row without marks")
        recorded = set()
        for flags in EVERYTHING:
            checkpoints = self.folder / "checkpoints"
            shutil.rmtree(checkpoints, ignore_errors=True)
            with self.subTest(flags=flags):
                self.same_bits(flags[0], 40, "--checkpoint-every", "10", "--checkpoints", checkpoints,
                               *flags[1:], fresh=checkpoints)
                recorded |= self.recorded()
            if "gradients_not_cleared" in flags:
                # Only gradients that are not cleared hold something that can be recorded.
                self.assertEqual(self.check("optimizer/stale_gradients")["outcome"], "failed")
        wanted = {name for name, mark in marks.items() if set(mark) & {"C", "T"}}
        self.assertEqual(recorded, wanted - ONLY_IN_TRIALS)


if __name__ == "__main__":
    unittest.main()

"""Watching changes not one bit of the reference trainer: state files of watched and unwatched runs are
equal at every fifth step and at the end, while the watched runs record all that the probe can give."""

import hashlib
import re
import subprocess
import sys
import unittest

from support import SOURCE, TRAINER, EndToEnd, environment

sys.path.insert(0, str(SOURCE))
from tests.observe.reading import ProcessTrace  # noqa: E402

QUANTITIES = SOURCE / "checks" / "records" / "quantity.def"
ROW = re.compile(r'^DLCHECK_QUANTITY\(\w+, "(\w+)", \d+, "[^"]*", "(\w*)"', re.MULTILINE)


class TrainerUnderWatch(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_trainer()

    def digest(self, arm, model, steps, *flags):
        """Of weights, optimizer state and random state after so many steps, and what was printed."""
        # The archive holds its own name, so both arms use the same one.
        state = self.folder / arm / "state.pt"
        state.parent.mkdir(exist_ok=True)
        command = [TRAINER, "--model", model, "--dropout", "0.1", "--steps", str(steps),
                   "--save", state, *flags]
        if arm == "watched":
            process = self.run_command(*command, options=["--exit-status", "subject"])
        else:
            process = subprocess.run(command, capture_output=True, text=True, check=False,
                                     env=environment())
        self.assertEqual(process.returncode, 0, process.stderr)
        return hashlib.sha256(state.read_bytes()).hexdigest(), process.stdout

    def same_bits(self, model, steps, *flags):
        plain, plain_output = self.digest("unwatched", model, steps, *flags)
        watched, watched_output = self.digest("watched", model, steps, *flags)
        self.assertEqual(plain, watched)
        self.assertEqual(plain_output, watched_output)

    def recorded(self):
        trace = ProcessTrace(next(self.out.glob("runs/*/records/*.records")))
        return {row.name for row in trace.rows if row.kind == "quantity"}

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
        for model in ("mlp", "resnet"):
            self.same_bits(model, 40, "--fault", "gradients_not_cleared")
            # Only gradients that are not cleared hold something that can be recorded.
            self.assertEqual(self.recorded(), {name for name, mark in marks.items() if "C" in mark})
            self.assertEqual(self.check("optimizer/stale_gradients")["outcome"], "failed")


if __name__ == "__main__":
    unittest.main()

"""Faults planted in the small programs leave the traces that the checks for them read."""

import unittest

from tests.observe.plant import PLANTS, planted
from tests.observe.reading import DIGITS, python, run_watched


def run_with(program, check, **request):
    return run_watched(python("-c", planted(program, check), DIGITS), raises=False, **request)


def losses(run):
    return [row.value for row in run.main.of("quantity", "loss")]


class ShimFaults(unittest.TestCase):
    def test_outputs_that_start_too_sure_show_in_the_initial_loss(self):
        for program in PLANTS:
            run = run_with(program, "initialization/wrong_initial_loss", experiment="same_seed", steps=2)
            values = {row.name: row.value for row in run.main.rows}
            self.assertGreater(values["initial_loss"], 1.5 * values["constant_loss"], program)

    def test_a_loss_that_no_batch_can_fit_stays_up(self):
        for program in PLANTS:
            run = run_with(program, "learnability/cannot_overfit_one_batch", experiment="one_batch", steps=150,
                           reference_rate=0.01)  # fmt: skip
            self.assertGreater(losses(run)[-1], 0.5, program)

    def test_a_model_that_looks_at_nothing_learns_as_much_blindly(self):
        for program in PLANTS:
            ends = []
            for experiment in ("reference", "mean_inputs"):
                run = run_with(program, "learnability/input_independence", experiment=experiment,
                               steps=100, reference_rate=0.01)  # fmt: skip
                ends.append(sum(losses(run)[-20:]) / 20)
            self.assertAlmostEqual(ends[0], ends[1], delta=0.05, msg=program)
            self.assertGreater(ends[0], 2.2, program)

    def test_a_cut_trunk_gets_no_gradient(self):
        main = run_with("plain", "gradients/missing", experiment="same_seed", steps=5).main
        with_gradient = {row.thing[2] for row in main.of("quantity", "gradient_norm")}
        self.assertEqual(with_gradient, {"3.weight", "3.bias"})
        ran = {row.thing[2] for row in main.of("event", "forward")}
        self.assertTrue({"0", "3"} <= ran)

    def test_an_infinite_input_is_seen_where_it_enters(self):
        main = run_with("plain", "numerics/nonfinite_values").main
        broken = [row for row in main.of("quantity", "gradient_norm") if row.aux > 0]
        self.assertGreater(len(broken), 0)
        self.assertGreaterEqual(min(row.step for row in broken), 71)

    def test_a_program_that_fails_leaves_its_records(self):
        run = run_with("plain", "program/failed")
        self.assertEqual(run.status, 1)
        self.assertEqual(run.main.of("event", "step")[-1].step, 37)


if __name__ == "__main__":
    unittest.main()

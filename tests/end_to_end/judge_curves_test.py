"""What `dlcheck judge` says of the curves in logs."""

import math
import random
import unittest

from support import EndToEnd


def falling(steps, scatter=0.1, floor=0.3):
    draw = random.Random(0)
    return [(floor + 2 * math.exp(-step / 200)) * math.exp(draw.gauss(0, scatter)) for step in range(steps)]


class JudgeCurves(EndToEnd):
    def judge(self, columns):
        """The findings of a table with these columns, by check."""
        path = self.folder / "log.csv"
        names = list(columns)
        rows = zip(*columns.values())
        lines = [",".join(["step", *names]), *(f"{step}," + ",".join(map(str, row)) for step, row in enumerate(rows))]
        path.write_text("\n".join(lines) + "\n")
        process = self.dlcheck("judge", path, "--report", f"concise={self.folder / 'found'}")
        self.assertEqual(process.returncode, 0, process.stderr)
        found = (self.folder / "found").read_text()
        return [line.split(": ")[1] for line in found.splitlines()], found

    def test_healthy_curves_are_quiet(self):
        for scatter in (0.02, 0.1, 0.4):
            with self.subTest(scatter):
                losses = falling(2000, scatter)
                times = [0.1 * step for step in range(2000)]
                found, text = self.judge({"loss": losses, "time": times, "lr": [0.1] * 2000})
                self.assertEqual(found, [], text)

    def test_a_loss_that_rises_above_its_start_is_a_warning(self):
        losses = falling(1000)
        losses += [losses[-1] * 1.01**step for step in range(300)]
        found, text = self.judge({"loss": losses})
        self.assertEqual(found, ["training_loop/diverging_loss"], text)
        self.assertIn("above the first loss", text)

    def test_a_loss_that_comes_back_is_quiet(self):
        losses = falling(1000)
        losses += [losses[-1] * 1.02**step for step in range(60)] + falling(400)
        self.assertNotIn("training_loop/diverging_loss", self.judge({"loss": losses})[0])

    def test_losses_that_are_not_finite_are_one_finding(self):
        found, text = self.judge({"loss": [*falling(900)[:400], *["nan"] * 300, *["inf"] * 200]})
        self.assertEqual(set(found), {"numerics/nonfinite_values"}, text)

    def test_most_losses_that_stay_are_a_warning(self):
        found = []
        for seed in range(6):
            draw = random.Random(seed)
            found += self.judge({"loss": [2.3 + draw.gauss(0, 0.02) for _ in range(900)]})[0]
        self.assertEqual(set(found), {"training_loop/flat_loss"})
        self.assertGreaterEqual(len(found), 3)

    def test_a_loss_that_alternates_is_a_note(self):
        draw = random.Random(2)
        losses = [1 + 0.5 * (step % 2) + draw.gauss(0, 0.02) for step in range(300)]
        self.assertEqual(self.judge({"loss": losses})[0], ["training_loop/oscillating_loss"])

    def test_steps_after_the_end_of_the_schedule_are_notes(self):
        draw = random.Random(4)
        ended = [min(step, 300) for step in range(1500)]
        losses = [(0.3 + 2 / (1 + step / 50) ** 0.5) * math.exp(draw.gauss(0, 0.05)) for step in ended]
        found, text = self.judge({"loss": losses, "lr": [0.1 * (1 - step / 300.1) for step in ended]})
        self.assertEqual(set(found) - {"schedule/lr_is_zero"},
                         {"schedule/decays_too_early", "training_loop/plateaued_loss"}, text)  # fmt: skip

    def test_an_evaluation_that_is_much_better_than_training_is_a_note(self):
        losses = falling(600)
        evaluated = [loss / 8 if step % 50 == 0 else "" for step, loss in enumerate(losses)]
        self.assertEqual(self.judge({"loss": losses, "val_loss": evaluated})[0], ["evaluation/better_than_training"])

    def test_a_rate_that_is_zero_for_most_of_the_run_is_a_warning(self):
        rates = [max(0.0, 0.1 - 0.001 * step) for step in range(600)]
        self.assertEqual(self.judge({"loss": falling(600), "lr": rates})[0], ["schedule/lr_is_zero"])

    def test_steps_that_stall_and_steps_that_slow_down_are_notes(self):
        time, stalling, slowing = 0.0, [], []
        for step in range(600):
            time += 0.5 if step % 10 == 0 else 0.05
            stalling.append(time)
        found, text = self.judge({"loss": falling(600), "time": stalling})
        self.assertEqual(found, ["performance/step_stalls"], text)
        for step in range(600):
            time += 0.02 * (1 + step / 100)
            slowing.append(time)
        found, text = self.judge({"loss": falling(600), "time": slowing})
        self.assertEqual(found, ["performance/step_time_growth"], text)

    def test_times_that_fall_are_durations_and_no_clock(self):
        draw = random.Random(3)
        times = [draw.uniform(0.1, 0.2) for _ in range(600)]
        self.assertEqual(self.judge({"loss": falling(600), "time": times})[0], [])


if __name__ == "__main__":
    unittest.main()
